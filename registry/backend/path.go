package backend

import "github.com/elasticron/elasticron/registry"

// CheckSubtree is [registry.CheckPath] for calls that also take the root: List, Children and View.
func CheckSubtree(path string) error {
	if path == registry.Root {
		return nil
	}
	return registry.CheckPath(path)
}
