"""The provider `mock`: everything from a sandbox world in this process. Nothing is contacted."""
