package sharding

import "strings"

// The short names of the built-in strategies. Jobs store them, so they never change.
const (
	NameAverage = "average"          // AverageAllocation, the default
	NameOdevity = "odevity"          // OdevityByName
	NameRotate  = "rotate"           // RotateByName
	NameMinimal = "minimal-movement" // MinimalMovement
)

// javaPackage is where Elastic-Job-Lite 2.x keeps its strategies; it stores full class names.
const javaPackage = "com.dangdang.ddframe.job.lite.api.strategy.impl."

// Default returns a new registry with the built-in strategies: each under its short name, and those
// that Elastic-Job has too under the class names of 2.x and the type names of 3.x. What is registered
// there in addition stays there; nothing is global.
func Default() *Registry {
	return &Registry{byName: map[string]Strategy{
		NameAverage: builtIn(AverageAllocation),
		NameOdevity: builtIn(OdevityByName),
		NameRotate:  builtIn(RotateByName),
		NameMinimal: builtIn(MinimalMovement),

		javaPackage + "AverageAllocationJobShardingStrategy":  builtIn(AverageAllocation),
		javaPackage + "OdevitySortByNameJobShardingStrategy":  builtIn(OdevityByName),
		javaPackage + "RotateServerByNameJobShardingStrategy": builtIn(RotateByName),

		"AVG_ALLOCATION": builtIn(AverageAllocation),
		"ODEVITY":        builtIn(OdevityByName),
		"ROUND_ROBIN":    builtIn(RotateByName),
	}}
}

// builtIn is a strategy of [Default].
type builtIn StrategyFunc

// Assign calls f.
func (f builtIn) Assign(r Request) (Assignment, error) { return f(r) }

// IsBuiltIn tells whether a strategy is one of those that [Default] has, which return at once.
func IsBuiltIn(s Strategy) bool {
	_, is := s.(builtIn)
	return is
}

// KnownToJava tells whether a Java instance could look a strategy up by this name: it is empty or, as
// far as can be seen from here, the full name of a class.
func KnownToJava(name string) bool { return name == "" || strings.Contains(name, ".") }
