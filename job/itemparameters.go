package job

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/elasticron/elasticron/internal/texts"
)

// ParseItemParameters reads the parameters of sharding items, written as "0=Berlin,1=Oslo": pairs
// of an item and its text, separated by commas, with exactly one "=" in each. It ignores space around items and
// texts, and commas at the end. An item must be a number from 0 and may occur only once; its text must not be
// empty. An empty text has no parameters.
//
// It does not check whether there are such items; [Config.Validate] does.
func ParseItemParameters(text string) (map[int]string, error) {
	parameters := make(map[int]string)
	rest := strings.TrimRight(text, ", \t")
	if rest == "" {
		return parameters, nil
	}
	for pair := range strings.SplitSeq(rest, ",") {
		item, parameter, err := parseItemParameter(pair)
		if err != nil {
			return nil, err
		}
		if _, twice := parameters[item]; twice {
			return nil, fmt.Errorf("item %d has two parameters", item)
		}
		parameters[item] = parameter
	}
	return parameters, nil
}

func parseItemParameter(pair string) (item int, parameter string, err error) {
	key, parameter, found := strings.Cut(pair, "=")
	key, parameter = strings.TrimSpace(key), strings.TrimSpace(parameter)
	if !found || parameter == "" || strings.Contains(parameter, "=") {
		return 0, "", fmt.Errorf("%q is not of the form item=text with one %q", texts.Shorten(pair), "=")
	}
	number, err := strconv.ParseUint(key, 10, 31)
	if err != nil {
		return 0, "", fmt.Errorf("item %q in %q is not a number from 0 to 2147483647", texts.Shorten(key), texts.Shorten(pair))
	}
	return int(number), parameter, nil
}
