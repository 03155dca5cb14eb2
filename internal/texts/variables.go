package texts

import (
	"fmt"
	"strings"
)

// CheckVariables returns an error that names the first of some variables, each "name=value", that no process can be given: the
// system ends a value at a zero character.
func CheckVariables(variables []string) error {
	for _, variable := range variables {
		if strings.IndexByte(variable, 0) >= 0 {
			name, _, _ := strings.Cut(variable, "=")
			return fmt.Errorf("variable %s has a zero character, which no variable can hold", name)
		}
	}
	return nil
}
