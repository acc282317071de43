#!/usr/bin/env python3
"""Writes random expressions and what Python makes of them, for the tests of expressions in cases.

    python3 tests/python/expressions.py > prescribed/src/expression/oracle.tsv

Lines: the expression, x, y, z, t, its value; tabs between them. `^` is `**` for Python, whose precedence is the same. Programs without
a real, finite value are left out. Standard library only.
"""

import math
import random

ONE = ["abs", "atan", "cos", "cosh", "exp", "floor", "log", "sin", "sinh", "sqrt", "tan", "tanh", "asin", "acos", "step"]
TWO = ["atan2", "hypot", "min", "max", "ramp"]
NAMES = {
    "abs": lambda x: abs(float(x)), "min": min, "max": max, "step": lambda x: float(x >= 0),
    "log": math.log, "pi": math.pi, "velocity": 1.5, "length": 0.25,
    **{n: getattr(math, n) for n in ["atan", "cos", "cosh", "exp", "floor", "sin", "sinh", "sqrt", "tan", "tanh", "asin", "acos", "atan2", "hypot"]},
}


def ramp(t, length):
    if length <= 0:
        return float(t >= length)
    s = min(max(t / length, 0.0), 1.0)
    return s**3 * (10 - 15 * s + 6 * s * s)


NAMES["ramp"] = ramp


def program(r, depth):
    """A text of random form: whether parentheses are needed is left to chance, so that precedence counts."""
    kind = r.random() if depth > 0 else 0.0
    if kind < 0.2:
        return r.choice(["x", "y", "z", "t", "pi", "velocity", "length", f"{r.uniform(0, 3):.2f}", str(r.randint(0, 9)), f"{r.randint(1, 99)}e-2"])
    if kind < 0.6:
        space = r.choice(["", " "])
        return program(r, depth - 1) + space + r.choice("+-*/^") + space + program(r, depth - 1)
    if kind < 0.7:
        return "-" + program(r, depth - 1)
    if kind < 0.8:
        return "(" + program(r, depth - 1) + ")"
    if kind < 0.84:
        return "(" + program(r, depth - 1) + r.choice([" < ", "<=", " > ", ">="]) + program(r, depth - 1) + ")"
    if kind < 0.94:
        return f"{r.choice(ONE)}({program(r, depth - 1)})"
    return f"{r.choice(TWO)}({program(r, depth - 1)}, {program(r, depth - 1)})"


def main():
    r = random.Random(14)
    seen = set()
    while len(seen) < 600:
        text = program(r, 4)
        if len(text) < 5 or len(text) > 60 or text in seen:
            continue
        place = {v: round(r.uniform(-2, 2), 3) for v in "xyzt"}
        try:
            value = eval(text.replace("^", "**"), {"__builtins__": {}}, NAMES | place)
            value = float(value)
        except (ArithmeticError, ValueError, TypeError):
            continue
        if not math.isfinite(value) or abs(value) > 1e9:
            continue
        seen.add(text)
        print("\t".join([text, *(repr(place[v]) for v in "xyzt"), repr(value)]))


if __name__ == "__main__":
    main()
