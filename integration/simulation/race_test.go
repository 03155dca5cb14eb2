//go:build race

package simulation_test

func init() { underRace = true }
