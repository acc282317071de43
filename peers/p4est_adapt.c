/* Refine and balance of one octree around a sphere: seconds and octants, on one rank.
 *
 * argv: level of the uniform start, finest level, repetitions. An octant is refined while
 * its middle is within its own edge of the sphere of radius 0.3 around the middle of the
 * unit box: the criterion of amr/benches/sphere.rs, in the same arithmetic. Prints one JSON
 * object; `criterion` is the time of the same number of calls of the criterion alone, `mesh`
 * that of the ghost layer and the mesh: the neighbours of every octant, once. */
#include <math.h>
#include <p8est.h>
#include <p8est_extended.h>
#include <p8est_ghost.h>
#include <p8est_mesh.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int finest;
static long calls;

/* Seconds on the processor: other programs disturb them less than those on the clock. */
static double processor(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int near_sphere(p8est_t *forest, p4est_topidx_t tree, p8est_quadrant_t *q) {
    (void)forest;
    (void)tree;
    ++calls;
    if (q->level >= finest)
        return 0;
    const double unit = 1.0 / P8EST_ROOT_LEN, size = P8EST_QUADRANT_LEN(q->level) * unit;
    const double x = q->x * unit + 0.5 * size - 0.5;
    const double y = q->y * unit + 0.5 * size - 0.5;
    const double z = q->z * unit + 0.5 * size - 0.5;
    return fabs(sqrt(x * x + y * y + z * z) - 0.3) < size;
}

int main(int argc, char **argv) {
    const int start = argc > 1 ? atoi(argv[1]) : 4;
    finest = argc > 2 ? atoi(argv[2]) : 8;
    const int repeat = argc > 3 ? atoi(argv[3]) : 3;
    sc_MPI_Init(&argc, &argv);
    sc_init(sc_MPI_COMM_WORLD, 0, 0, NULL, SC_LP_ERROR);
    p4est_init(NULL, SC_LP_ERROR);
    p8est_connectivity_t *box = p8est_connectivity_new_unitcube();
    double best = 1e30, best_cpu = 1e30, best_refine = 0, best_balance = 0, criterion = 0, mesh_time = 0;
    long leaves = 0, refined = 0;
    for (int run = 0; run < repeat; ++run) {
        p8est_t *forest = p8est_new_ext(sc_MPI_COMM_WORLD, box, 0, start, 1, 0, NULL, NULL);
        calls = 0;
        const double t0 = sc_MPI_Wtime(), c0 = processor();
        p8est_refine(forest, 1, near_sphere, NULL);
        const double t1 = sc_MPI_Wtime();
        refined = (long)forest->global_num_quadrants;
        p8est_balance(forest, P8EST_CONNECT_FULL, NULL);
        const double t2 = sc_MPI_Wtime();
        best_cpu = fmin(best_cpu, processor() - c0);
        leaves = (long)forest->global_num_quadrants;
        if (t2 - t0 < best) {
            best = t2 - t0;
            best_refine = t1 - t0;
            best_balance = t2 - t1;
        }
        if (run == repeat - 1) {
            const long wanted = calls;
            p8est_tree_t *tree = p8est_tree_array_index(forest->trees, 0);
            const size_t count = tree->quadrants.elem_count;
            long sum = 0;
            const double t3 = processor();
            for (long i = 0; i < wanted; ++i) {
                p8est_quadrant_t *q = p8est_quadrant_array_index(&tree->quadrants, i % count);
                finest = 99;
                sum += near_sphere(forest, 0, q);
            }
            criterion = processor() - t3;
            if (sum < 0)
                return 1;
            const double t4 = processor();
            p8est_ghost_t *ghost = p8est_ghost_new(forest, P8EST_CONNECT_FULL);
            p8est_mesh_t *mesh = p8est_mesh_new_ext(forest, ghost, 0, 0, P8EST_CONNECT_FULL);
            mesh_time = processor() - t4;
            p8est_mesh_destroy(mesh);
            p8est_ghost_destroy(ghost);
        }
        p8est_destroy(forest);
    }
    printf("{\"leaves\": %ld, \"refined\": %ld, \"refine\": %.6f, \"balance\": %.6f, \"cpu\": %.6f, \"criterion\": %.6f, \"mesh\": %.6f}\n",
           leaves, refined, best_refine, best_balance, best_cpu, criterion, mesh_time);
    p8est_connectivity_destroy(box);
    sc_finalize();
    sc_MPI_Finalize();
    return 0;
}
