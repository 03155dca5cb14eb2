package elasticjob3

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SetDisabled returns a config in which disabled is as wanted, and all else is as it was, to the byte. Java then starts
// no server enabled, or does again. The error says why the text cannot be changed by itself.
func SetDisabled(root, config string, disabled bool) (string, error) {
	before, err := Decode(root, config)
	if err != nil {
		return "", err
	}
	if before.Config.Disabled == disabled {
		return config, nil
	}
	members, err := parse(config)
	if err != nil {
		return "", err
	}
	text := changedText(config, members, strconv.FormatBool(disabled))
	after, err := Decode(root, text)
	before.Config.Disabled = disabled
	if err != nil || !reflect.DeepEqual(before.Config, after.Config) {
		return "", errors.Join(fmt.Errorf("config: disabled cannot be set to %v in this text", disabled), err)
	}
	return text, nil
}

// changedText puts a value in the place of the one that the text has, or adds it. Whether that is right for the style in
// which the text is written, the caller finds out.
func changedText(text string, members *yaml.Node, value string) string {
	for i := 0; i+1 < len(members.Content); i += 2 {
		if found := members.Content[i+1]; members.Content[i].Value == "disabled" {
			start := offsetOf(text, found.Line, found.Column)
			return text[:start] + value + text[min(len(text), start+len(found.Value)):]
		}
	}
	if members.Style == yaml.FlowStyle {
		start := offsetOf(text, members.Line, members.Column) + 1
		return text[:start] + "disabled: " + value + ", " + text[start:]
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + "disabled: " + value + "\n"
}

// offsetOf returns where a line and a column, which count from 1, lie in a text. Columns count characters.
func offsetOf(text string, line, column int) int {
	start := 0
	for ; line > 1; line-- {
		start += strings.IndexByte(text[start:], '\n') + 1
	}
	for i := range text[start:] {
		if column--; column == 0 {
			return start + i
		}
	}
	return len(text)
}
