"""`make up-cluster`: the processes of a cluster on one machine, for tests and for trying out."""
