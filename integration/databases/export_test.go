package databases

// SetPrograms sets what a kind needs.
func SetPrograms(k *Kind, programs ...string) { k.programs = programs }
