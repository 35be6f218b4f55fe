"""The command that opens the notebooks in JupyterLab, and how JupyterLab is started."""
