package simulation_test
import ("testing";"os")
func TestZZ(t *testing.T){ os.WriteFile("/tmp/zz.txt", transcript(simulate(t, *seed)), 0o644) }
