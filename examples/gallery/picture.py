"""A bar for each result, in a file, where matplotlib is installed and the command line names one."""

import sys


def bars(title, values):
    """Writes `python example.py --plot FILE.svg`: `values` has a number for each name."""
    if "--plot" not in sys.argv:
        return
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
    axes.bar([*map(str, values)], [float(value) for value in values.values()], color="#35507a")
    axes.set_title(title)
    axes.tick_params(axis="x", labelrotation=20)
    figure.savefig(sys.argv[sys.argv.index("--plot") + 1])
    pyplot.close(figure)
