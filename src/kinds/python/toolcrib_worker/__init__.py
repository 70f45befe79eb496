"""The Python side of Toolcrib. The package name keeps its modules apart from those of tools."""
