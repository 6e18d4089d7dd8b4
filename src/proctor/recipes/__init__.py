"""Recipes: public benchmarks as data, one YAML file each."""
