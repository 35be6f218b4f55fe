-- The control store and Dagster have a table `jobs` each, hence two databases. The first, `control`, exists already.
create database dagster owner sametrack;
