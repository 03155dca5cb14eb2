// Package javayaml reads and writes the YAML in which ElasticJob 3.x keeps configurations and instances: one block
// mapping, as SnakeYAML dumps a bean. It is no YAML library. Anchors, tags and flow collections have no place in what
// it reads value by value; a member that holds them can be kept as the text that it is.
package javayaml
