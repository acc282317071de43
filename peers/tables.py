"""Prints the results so far as Markdown: the fastest of the runs of each, and medians of ratios."""

from statistics import median


def seconds(x):
    return f"{x:.2f} s" if x < 100 else f"{x:.0f} s"


def voxels(settings):
    rows = [r for r in settings.rows("voxels") if "failed" not in r]
    print("| surface | n | program | surface to mask | processor, whole | peak | inside | time : cutlink's | : its mask's |")
    print("|---|---|---|---|---|---|---|---|---|")
    for surface, n in sorted({(r["surface"], r["n"]) for r in rows}):
        here = [r for r in rows if (r["surface"], r["n"]) == (surface, n)]
        turns, bases = {}, {}
        for r in here:
            # Turns of one run of the study follow one another; a new run starts at turn 0.
            number = turns[r["peer"]] = turns.get(r["peer"], -1) + 1
            r["number"] = number
            if r["peer"] == "cutlink 1t":
                bases[number] = r
        for peer in dict.fromkeys(r["peer"] for r in here):
            runs = [r for r in here if r["peer"] == peer]
            pairs = [(r, bases[r["number"]]) for r in runs if r["number"] in bases]
            whole = [r["work"] / base["work"] for r, base in pairs]
            mask = [r["work"] / base["mask"] for r, base in pairs if "mask" in base]
            best = {k: min(r[k] for r in runs) for k in ("work", "cpu", "peak")}
            ratios = " | ".join(f"{median(x):.2f}" if x else "" for x in (whole, mask))
            print(f"| {surface} | {n}³ | {peer} | {seconds(best['work'])} | {seconds(best['cpu'])} "
                  f"| {best['peak'] >> 20} MiB | {runs[0]['inside']:,} | {ratios} |")


def snappy(settings):
    print("\n| case | processes | program | cells | finest, outside | whole | CPU | peak | ratio of whole, of CPU |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in settings.rows("snappy"):
        s, c = r["snappy"], r["cutlink"]
        if "failed" in s:
            print(f"| {r['case']} | {r['threads']} | {s['failed']} |")
            continue
        cpu = s.get("cpu", float("nan"))
        print(f"| {r['case']} | {r['threads']} | snappyHexMesh | {s['cells']:,} | {s['levels'][-1]:,} | {seconds(s['whole'])} "
              f"| {seconds(cpu)} | {s['peak'] >> 20} MiB | |")
        ours = median(c["whole"])
        our_cpu = median(c["cpu"]) if "cpu" in c else float("nan")
        print(f"| | {r['threads']} | cutlink | {c['cells']:,} | {c['finest_outside']:,} | {seconds(ours)} "
              f"| {seconds(our_cpu)} | {c['peak'] >> 20} MiB | {s['whole'] / ours:.0f}, {cpu / our_cpu:.0f} |")


def p4est(settings):
    print("\n| levels | octants | blocks, refined ones too | p4est | cutlink | octants/s | ratio, median | p4est's mesh |")
    print("|---|---|---|---|---|---|---|---|")
    for r in settings.rows("p4est"):
        their, our = min(r["p4est cpu"]), min(r["cutlink cpu"])
        print(f"| {r['levels']} | {r['leaves']:,} | {r['blocks']:,} | {their * 1e3:.1f} ms | {our * 1e3:.1f} ms "
              f"| {r['leaves'] / their / 1e6:.1f} M, {r['leaves'] / our / 1e6:.1f} M | {median(r['ratio']):.2f} | {r['mesh'] * 1e3:.0f} ms |")


def study(settings, only=None):
    voxels(settings)
    snappy(settings)
    p4est(settings)
