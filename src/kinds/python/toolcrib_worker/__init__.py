"""The Python side of Toolcrib. Its modules bear this name, so that no module of a tool can be taken for one of them."""
