// Package catalog lists the metrics of a scheduler, once for all exporters: their names, kinds, units, labels and what
// they mean; and it turns a health report into values of those that tell how things are.
package catalog
