package catalog

// All returns every metric: exporters name those that they have.
func All() []Metric { return all }
