package texts

import (
	"iter"
	"strconv"
)

// Runs yields the runs of ascending numbers that follow each other without a gap, each as its first and its last one.
func Runs(numbers []int) iter.Seq2[int, int] {
	return func(yield func(first, last int) bool) {
		for i := 0; i < len(numbers); {
			end := i
			for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
				end++
			}
			if !yield(numbers[i], numbers[end]) {
				return
			}
			i = end + 1
		}
	}
}

// AppendRun appends a run to a list such as "0-9,12".
func AppendRun(list []byte, first, last int) []byte {
	if len(list) > 0 {
		list = append(list, ',')
	}
	list = strconv.AppendInt(list, int64(first), 10)
	if last > first {
		list = append(list, '-')
		list = strconv.AppendInt(list, int64(last), 10)
	}
	return list
}
