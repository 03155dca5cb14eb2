package executions

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// midnight is when the clock of every synctest bubble starts.
var midnight = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
