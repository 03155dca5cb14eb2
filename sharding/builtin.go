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
		NameAverage: StrategyFunc(AverageAllocation),
		NameOdevity: StrategyFunc(OdevityByName),
		NameRotate:  StrategyFunc(RotateByName),
		NameMinimal: StrategyFunc(MinimalMovement),

		javaPackage + "AverageAllocationJobShardingStrategy":  StrategyFunc(AverageAllocation),
		javaPackage + "OdevitySortByNameJobShardingStrategy":  StrategyFunc(OdevityByName),
		javaPackage + "RotateServerByNameJobShardingStrategy": StrategyFunc(RotateByName),

		"AVG_ALLOCATION": StrategyFunc(AverageAllocation),
		"ODEVITY":        StrategyFunc(OdevityByName),
		"ROUND_ROBIN":    StrategyFunc(RotateByName),
	}}
}

// KnownToJava tells whether a Java instance could look a strategy up by this name: it is empty or, as
// far as can be seen from here, the full name of a class.
func KnownToJava(name string) bool { return name == "" || strings.Contains(name, ".") }
