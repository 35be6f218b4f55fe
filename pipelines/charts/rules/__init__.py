"""Pure rules of the chart: history nodes, back-fill plan, song links, lead over the platform."""
