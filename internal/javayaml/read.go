package javayaml

import (
	"fmt"
	"strconv"
	"strings"
)

// Member is one member of a mapping.
type Member struct {
	Name string
	// Text is the whole member as it stands: its lines, less the indentation of the mapping. A mapping that is put
	// together from the texts of members says the same.
	Text string

	line int // where it begins, from 1
	rest string
	more []string // the lines behind the first
}

// Members takes a mapping apart.
func Members(text string) ([]Member, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return members(lines, 1)
}

func members(lines []string, first int) ([]Member, error) {
	var all []Member
	var text strings.Builder // of the last member
	names := make(map[string]bool)
	end := func() {
		if len(all) > 0 {
			all[len(all)-1].Text = text.String()
		}
		text.Reset()
	}
	started := false
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		at := first + i
		switch {
		case !started && strings.TrimRight(line, " ") == "---":
			started = true
			continue
		case len(all) > 0 && belongs(line):
			m := &all[len(all)-1]
			m.more = append(m.more, line)
			text.WriteString(line)
			text.WriteByte('\n')
			continue
		case trim(line) == "" || line[0] == '#':
			continue
		}
		started = true
		name, rest, err := cutName(line)
		if err != nil {
			return nil, fault(at, "%s", err)
		}
		if names[name] {
			return nil, fault(at, "%q is there twice", name)
		}
		names[name] = true
		end()
		text.WriteString(line)
		text.WriteByte('\n')
		all = append(all, Member{Name: name, line: at, rest: rest})
	}
	end()
	return all, nil
}

// belongs tells whether a line continues the member before it.
func belongs(line string) bool {
	return line == "" || line[0] == ' ' || line == "-" || strings.HasPrefix(line, "- ")
}

// trim takes away what YAML takes for white space, which is less than Unicode does.
func trim(text string) string { return strings.Trim(text, " \t\r") }

func fault(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
}

// cutName cuts a member's name from its first line.
func cutName(line string) (name, rest string, err error) {
	end := 0
	switch line[0] {
	case '\'', '"':
		name, end, err = quoted(line)
		if err == nil && end < 0 {
			err = fmt.Errorf("the name has no closing quote")
		}
		if err != nil {
			return "", "", err
		}
		if end >= len(line) || line[end] != ':' {
			return "", "", fmt.Errorf("must be a member such as name: value")
		}
	default:
		for end = strings.IndexByte(line, ':'); end >= 0 && end+1 < len(line) && line[end+1] != ' '; {
			next := strings.IndexByte(line[end+1:], ':')
			if next < 0 {
				end = -1
				break
			}
			end += 1 + next
		}
		if end <= 0 || strings.ContainsRune("-?:,[]{}#&*!|>%@`", rune(line[0])) {
			return "", "", fmt.Errorf("must be a member such as name: value")
		}
		name = strings.TrimRight(line[:end], " ")
	}
	return name, line[end+1:], nil
}

// Scalar returns the text of a member that is no collection. null tells that it is there without a value.
func (m Member) Scalar() (text string, null bool, err error) {
	rest := strings.TrimLeft(m.rest, " ")
	switch {
	case rest == "" || rest[0] == '#':
		for _, line := range m.more {
			if trim(line) != "" {
				return "", false, fault(m.line, "must be a text or a number")
			}
		}
		return "", true, nil
	case rest[0] == '|':
		text, err = m.literal(rest)
	case rest[0] == '\'' || rest[0] == '"':
		text, err = m.quoted(rest)
	case strings.ContainsRune("&*!>%@`[]{},", rune(rest[0])) || strings.HasPrefix(rest, "- ") || rest == "-" || strings.HasPrefix(rest, "? "):
		return "", false, fault(m.line, "must be a text or a number as SnakeYAML writes it")
	default:
		text, err = m.plain(rest)
		null = err == nil && isNull(text)
		if null {
			text = ""
		}
	}
	return text, null, err
}

func isNull(text string) bool {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// Flag returns a truth value.
func (m Member) Flag() (bool, error) {
	text, null, err := m.Scalar()
	if err != nil {
		return false, err
	}
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off":
		return false, nil
	}
	return false, fault(m.line, "%s is %s, must be true or false", m.Name, shown(text, null))
}

// Number returns a whole number of 32 bits.
func (m Member) Number() (int, error) {
	text, null, err := m.Scalar()
	if err != nil {
		return 0, err
	}
	plain := strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
	n, err := strconv.ParseInt(plain, 10, 32)
	if err != nil || len(plain) > 1 && strings.TrimPrefix(plain, "-")[0] == '0' { // that would be an octal number
		return 0, fault(m.line, "%s is %s, must be a whole number", m.Name, shown(text, null))
	}
	return int(n), nil
}

func shown(text string, null bool) string {
	if null {
		return "empty"
	}
	return strconv.Quote(text)
}

// Mapping returns the members of a member that is a mapping, or is there without a value.
func (m Member) Mapping() ([]Member, error) {
	rest := trim(m.rest)
	if strings.HasPrefix(rest, "#") {
		rest = ""
	}
	switch {
	case rest == "{}" || isNull(rest) && len(m.more) == 0:
		return nil, nil
	case rest != "":
		return nil, fault(m.line, "%s must be a mapping with a line for each of its members", m.Name)
	}
	indent := -1
	var lines []string
	for i, line := range m.more {
		if trim(line) == "" {
			lines = append(lines, "")
			continue
		}
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		if indent < 0 {
			indent = spaces
		}
		if spaces < indent || indent == 0 {
			return nil, fault(m.line+1+i, "%s must be a mapping whose members stand below each other", m.Name)
		}
		lines = append(lines, line[indent:])
	}
	return members(lines, m.line+1)
}

// plain reads a scalar without quotes, of one line or more.
func (m Member) plain(rest string) (string, error) {
	var parts []string
	for i, line := range append([]string{rest}, m.more...) {
		line = trim(line)
		if end := strings.Index(line, " #"); end >= 0 {
			line = trim(line[:end])
		}
		if i > 0 && strings.HasPrefix(line, "#") {
			continue
		}
		if strings.Contains(line, ": ") || strings.HasSuffix(line, ":") {
			return "", fault(m.line+i, "%s must be quoted: it has a colon", m.Name)
		}
		parts = append(parts, line)
	}
	return folded(parts), nil
}

// folded joins the lines of a scalar: a line break is a space, and an empty line a line break.
func folded(parts []string) string {
	for len(parts) > 1 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	var b strings.Builder
	breaks := 0
	for i, part := range parts {
		switch {
		case i > 0 && part == "":
			breaks++
			continue
		case i > 0 && breaks > 0:
			b.WriteString(strings.Repeat("\n", breaks))
		case i > 0:
			b.WriteByte(' ')
		}
		breaks = 0
		b.WriteString(part)
	}
	return b.String()
}

// quoted reads a scalar in quotes, of one line or more.
func (m Member) quoted(rest string) (string, error) {
	// Where a quoted text ends can be told only with all of it. Its line breaks count as they are folded.
	text := joinQuoted(append([]string{rest}, m.more...), rest[0] == '"')
	value, end, err := quoted(text)
	if err != nil {
		return "", fault(m.line, "%s: %s", m.Name, err)
	}
	if end < 0 {
		return "", fault(m.line, "%s has no closing quote", m.Name)
	}
	if behind := trim(text[end:]); behind != "" && behind[0] != '#' {
		return "", fault(m.line, "%s has something behind its closing quote", m.Name)
	}
	return value, nil
}

// joinQuoted joins the lines of a quoted text.
func joinQuoted(lines []string, double bool) string {
	for len(lines) > 1 && trim(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	var b strings.Builder
	breaks := 0
	escaped := false // the line before ends with a backslash, which takes the break away
	for i, line := range lines {
		if i > 0 {
			line = strings.TrimLeft(line, " ")
		}
		if i > 0 && trim(line) == "" && i < len(lines)-1 {
			breaks++
			continue
		}
		switch {
		case i == 0:
		case breaks > 0:
			b.WriteString(strings.Repeat("\n", breaks))
		case !escaped:
			b.WriteByte(' ')
		}
		breaks = 0
		if i < len(lines)-1 {
			escaped = double && endsInBackslash(line)
			if escaped {
				line = line[:len(line)-1]
			} else {
				line = strings.TrimRight(line, " ")
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

func endsInBackslash(line string) bool {
	n := len(line) - len(strings.TrimRight(line, `\`))
	return n%2 == 1
}

// quoted reads a quoted text at the start of another, and returns where it ends; below 0 if it does not.
func quoted(text string) (value string, end int, err error) {
	var b strings.Builder
	quote := text[0]
	for i := 1; i < len(text); {
		c := text[i]
		switch {
		case c == quote && quote == '\'' && i+1 < len(text) && text[i+1] == '\'':
			b.WriteByte('\'')
			i += 2
		case c == quote:
			return b.String(), i + 1, nil
		case c == '\\' && quote == '"':
			n, err := unescape(&b, text[i+1:])
			if err != nil {
				return "", 0, err
			}
			i += 1 + n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return "", -1, nil
}

// escapes are the characters behind a backslash that stand for one other.
var escapes = map[byte]rune{
	'0': 0, 'a': 7, 'b': 8, 't': 9, '\t': 9, 'n': 10, 'v': 11, 'f': 12, 'r': 13, 'e': 27, ' ': ' ', '"': '"', '/': '/', '\\': '\\',
	'N': 0x85, '_': 0xa0, 'L': 0x2028, 'P': 0x2029,
}

// unescape reads what follows a backslash, and returns how many bytes that takes.
func unescape(b *strings.Builder, text string) (int, error) {
	if text == "" {
		return 0, fmt.Errorf("a backslash has nothing behind it")
	}
	if c, ok := escapes[text[0]]; ok {
		b.WriteRune(c)
		return 1, nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[0]]
	if digits == 0 || len(text) <= digits {
		return 0, fmt.Errorf("a backslash stands before %q, which has no meaning", text[:1])
	}
	code, err := strconv.ParseUint(text[1:1+digits], 16, 32)
	if err != nil || code > 0x10ffff {
		return 0, fmt.Errorf("\\%s is no character", text[:1+digits])
	}
	if code >= 0xd800 && code < 0xdc00 && len(text) >= 11 && text[5:7] == `\u` { // Java writes such pairs
		if low, err := strconv.ParseUint(text[7:11], 16, 32); err == nil && low >= 0xdc00 && low < 0xe000 {
			b.WriteRune(rune(0x10000 + (code-0xd800)<<10 + (low - 0xdc00)))
			return 11, nil
		}
	}
	b.WriteRune(rune(code))
	return 1 + digits, nil
}

// literal reads a block in which line breaks count.
func (m Member) literal(header string) (string, error) {
	keep, indent := byte(0), 0
	for _, c := range []byte(trim(header[1:])) {
		switch {
		case c == '-' || c == '+':
			keep = c
		case c >= '1' && c <= '9':
			indent = int(c - '0')
		default:
			return "", fault(m.line, "%s must begin with | alone, and + or -", m.Name)
		}
	}
	for _, line := range m.more {
		if indent == 0 && trim(line) != "" {
			indent = len(line) - len(strings.TrimLeft(line, " "))
		}
	}
	var b strings.Builder
	for i, line := range m.more {
		if len(line) < indent || trim(line[:indent]) != "" {
			if trim(line) != "" {
				return "", fault(m.line+1+i, "%s must have all its lines indented alike", m.Name)
			}
			line = strings.Repeat(" ", indent)
		}
		b.WriteString(line[indent:])
		b.WriteByte('\n')
	}
	text := b.String()
	switch trimmed := strings.TrimRight(text, "\n"); {
	case keep == '+':
		return text, nil
	case keep == '-' || trimmed == "":
		return trimmed, nil
	default:
		return trimmed + "\n", nil
	}
}
