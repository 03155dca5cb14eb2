package cronexpr

import (
	"errors"
	"fmt"
	"strings"
)

// span is one element of a list: from, from+step, ... up to to. If to is below from, it runs over
// the end of the field and goes on at its beginning.
type span struct {
	from, to, step int
}

// parseList reads a field of numbers and names: elements between commas.
func (f *fieldSpec) parseList(text string) (valueSet, *fault) {
	var set valueSet
	for element := range strings.SplitSeq(text, ",") {
		s, err := f.parseElement(element)
		if err != nil {
			return valueSet{}, &fault{text: element, why: err.Error()}
		}
		f.fill(&set, s)
	}
	return set, nil
}

// parseElement reads *, a, a-b and each of these with a step; Quartz allows /n for */n.
func (f *fieldSpec) parseElement(element string) (span, error) {
	if element == "" {
		return span{}, errEmptyElement
	}
	base, stepText, stepped := strings.Cut(element, "/")
	if !stepped {
		s, _, err := f.parseBase(element)
		return s, err
	}
	if isLetter(base) {
		return span{}, errors.New("a step needs numbers before it, after names Quartz ignores it")
	}
	if base == "" {
		base = "*"
	}
	s, open, err := f.parseBase(base)
	if err != nil {
		return span{}, err
	}
	if open {
		s.to = f.max
	}
	s.step, err = f.parseStep(stepText, open)
	return s, err
}

// parseBase reads what stands before the step: *, a or a-b. It is open if it names no end.
func (f *fieldSpec) parseBase(base string) (s span, open bool, _ error) {
	if base == "*" {
		return span{f.min, f.max, 1}, true, nil
	}
	if low, high, isRange := strings.Cut(base, "-"); isRange {
		s, err := f.parseRange(low, high)
		return s, false, err
	}
	value, err := f.parseValue(base)
	return span{value, value, 1}, true, err
}

func (f *fieldSpec) parseRange(low, high string) (span, error) {
	if isLetter(low) != isLetter(high) {
		return span{}, errors.New("a range needs two numbers or two names")
	}
	if isLetter(low) && len(low) > 3 {
		return span{}, errors.New("a range of names begins with three letters, after more of them Quartz ignores its end")
	}
	from, err := f.parseValue(low)
	if err != nil {
		return span{}, err
	}
	to, err := f.parseValue(high)
	if err != nil {
		return span{}, err
	}
	if to < from && !f.wraps {
		return span{}, errors.New("the range ends before it begins")
	}
	return span{from, to, 1}, nil
}

// parseStep reads what stands after the slash. Quartz bounds it only where the range is open.
func (f *fieldSpec) parseStep(text string, open bool) (int, error) {
	step, err := parseNumber(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("in the step, %w", err)
	case step == 0:
		return 0, errors.New("the step is 0")
	case open && step > f.max:
		return 0, fmt.Errorf("the step %s is above %d", text, f.max)
	}
	return step, nil
}

// parseValue reads a number or a name.
func (f *fieldSpec) parseValue(text string) (int, error) {
	if isLetter(text) && f.names != nil {
		return f.parseName(text)
	}
	value, err := parseNumber(text)
	switch {
	case err != nil:
		return 0, err
	case value < f.min:
		return 0, fmt.Errorf("%s is below %d%s", text, f.min, f.below)
	case value > f.max:
		return 0, fmt.Errorf("%s is above %d", text, f.max)
	}
	return value, nil
}

// parseName accepts whatever begins a full name and has three letters or more, as Quartz does.
func (f *fieldSpec) parseName(text string) (int, error) {
	for i, name := range f.names {
		if len(text) >= 3 && strings.HasPrefix(name, text) {
			return f.min + i, nil
		}
	}
	return 0, fmt.Errorf("%s is no %s", text, f.name)
}

// fill adds the values of s to set.
func (f *fieldSpec) fill(set *valueSet, s span) {
	size := f.max - f.min + 1
	if s.to < s.from {
		s.to += size
	}
	for value := s.from; value <= s.to; value += s.step {
		set.add((value - f.min) % size)
	}
}
