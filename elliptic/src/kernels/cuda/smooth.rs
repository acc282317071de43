//! The smoother. A level's values go from one array to another one and back: on the way down they begin and end in `z`, on the
//! way up they begin in `q`, which is free during a cycle, and end in `z`. Those of coarse leaves are in `z` all the time.

use super::{Done, SMOOTH, transfer};
use crate::EllipticOperator;
use crate::cg::Arrays;
use crate::cycle::Chebyshev;
use cutlink_device::cuda::Cuda;

pub(super) fn smooth<const D: usize>(
    cuda: &Cuda,
    op: &EllipticOperator<D, Cuda>,
    level: usize,
    w: &mut Arrays<Cuda>,
    from_zero: bool,
) -> Done {
    let (of, layers) = (op.level(level), op.lists.addresses());
    let (z, q) = (w.z.share(), w.q.share());
    let ways = match from_zero {
        true => [[z, z], [z, q], [q, z]],
        false => [[q, z], [z, q], [q, z]],
    };
    for (step, [keep, add]) in Chebyshev::steps().into_iter().enumerate() {
        let from_zero = from_zero && step == 0;
        let [layer_b, _, layer_d] = &mut w.layer;
        let launch = cuda
            .launch(&SMOOTH, D, "smooth")
            .val(op.addresses())
            .val(of)
            .val(layers)
            .buf(&op.layer_inverse)
            .val(ways[step][0])
            .val(ways[step][1])
            .val(z)
            .buf(&w.b)
            .out(&mut w.d)
            .buf(layer_b)
            .out(layer_d)
            .val(keep)
            .val(add)
            .val(u32::from(from_zero));
        // SAFETY: blocks and layers of the operator, arrays of their cells, which are borrowed for writing. Values are read that
        // this kernel does not write, but where it reads its own cell alone; a layer's leaf is in the list once.
        unsafe { launch.run(of.grid::<D>(of.places))? };
        if from_zero || of.places == 0 {
            continue;
        }
        let launch = cuda
            .launch(&SMOOTH, D, "add_to_layers")
            .val(of)
            .val(layers)
            .buf(layer_d)
            .val(z);
        // SAFETY: as above.
        unsafe { launch.run(transfer::over_layers(op, level))? };
    }
    Ok(())
}
