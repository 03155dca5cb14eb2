package javayaml

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// bestWidth is the column behind which SnakeYAML breaks a long text at the next space.
const bestWidth = 80

// indentation of what belongs to a member.
const indentation = 2

// AppendText appends a member whose value is a text, at a level of nesting. The bytes are those of SnakeYAML: without
// quotes where that reads back as the same text, else in single quotes, in a block if it has more than one line, and
// in double quotes where nothing else can say it.
func AppendText(dst []byte, level int, name, value string) []byte {
	value = strings.ToValidUTF8(value, "\ufffd")
	dst = appendName(dst, level, name)
	w := writer{text: dst, indent: (level + 1) * indentation}
	w.column = w.lineLength()
	w.write(value)
	return append(w.text, '\n')
}

// AppendPlain appends a member whose value is written as it is: a number, or true or false.
func AppendPlain(dst []byte, level int, name, value string) []byte {
	dst = appendName(dst, level, name)
	return append(append(append(dst, ' '), value...), '\n')
}

// AppendMapping appends the first line of a member that is a mapping.
func AppendMapping(dst []byte, level int, name string) []byte {
	return append(appendName(dst, level, name), '\n')
}

func appendName(dst []byte, level int, name string) []byte {
	for range level * indentation {
		dst = append(dst, ' ')
	}
	name = strings.ToValidUTF8(name, "\ufffd")
	switch a := analyze(name); {
	case name != "" && a.plain && !means(name):
		dst = append(dst, name...)
	case a.single && !a.breaks:
		dst = append(append(append(dst, '\''), strings.ReplaceAll(name, "'", "''")...), '\'')
	default:
		w := writer{text: dst, whole: true}
		w.double(name)
		dst = w.text
	}
	return append(dst, ':')
}

// writer appends a scalar.
type writer struct {
	text   []byte
	indent int
	column int
	whole  bool // nothing is broken
}

func (w *writer) lineLength() int {
	last := strings.LastIndexByte(string(w.text), '\n')
	return utf16Length(string(w.text[last+1:]))
}

// utf16Length is how long Java takes a text to be.
func utf16Length(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return n
}

func (w *writer) write(value string) {
	a := analyze(value)
	switch {
	case a.breaks && a.block && !strings.HasPrefix(value, " ") && !strings.HasPrefix(value, "\n"):
		w.literal(value)
	case a.plain && !a.breaks && value != "" && !means(value):
		w.put(" ")
		w.fold(value, "")
	case a.single && !a.breaks:
		w.put(" '")
		w.fold(value, "'")
	default:
		w.put(" ")
		w.whole = true
		w.double(value)
	}
}

func (w *writer) put(text string) {
	w.text = append(w.text, text...)
	w.column += utf16Length(text)
}

// fold writes a text of one line, broken at single spaces that come late in a line, and behind it the closing quote.
func (w *writer) fold(value, quote string) {
	for i := 0; i < len(value); {
		end := i
		spaces := value[i] == ' '
		for end < len(value) && (value[end] == ' ') == spaces {
			end++
		}
		part := value[i:end]
		inside := quote == "" || i > 0 && end < len(value)
		switch {
		case spaces && len(part) == 1 && w.column > bestWidth && inside:
			w.text = append(append(w.text, '\n'), strings.Repeat(" ", w.indent)...)
			w.column = w.indent
		case quote != "" && !spaces:
			w.put(strings.ReplaceAll(part, "'", "''"))
		default:
			w.put(part)
		}
		i = end
	}
	w.put(quote)
}

// literal writes a block in which line breaks count.
func (w *writer) literal(value string) {
	chomp := "|"
	switch {
	case !strings.HasSuffix(value, "\n"):
		chomp = "|-"
	case strings.HasSuffix(value, "\n\n"):
		chomp = "|+"
	}
	w.put(" " + chomp)
	for line := range strings.SplitSeq(strings.TrimSuffix(value, "\n"), "\n") {
		w.text = append(w.text, '\n')
		if line != "" {
			w.text = append(append(w.text, strings.Repeat(" ", w.indent)...), line...)
		}
	}
}

// double writes a text in double quotes, in one line.
func (w *writer) double(value string) {
	w.text = append(w.text, '"')
	for _, r := range value {
		switch short, ok := shortEscapes[r]; {
		case ok:
			w.text = append(w.text, '\\', short)
		case r >= 0x20 && r <= 0x7e, printable(r) && r != 0xfeff:
			w.text = utf8.AppendRune(w.text, r)
		case r <= 0xff:
			w.text = fmt.Appendf(w.text, `\x%02X`, r)
		case r <= 0xffff:
			w.text = fmt.Appendf(w.text, `\u%04X`, r)
		default:
			w.text = fmt.Appendf(w.text, `\U%08X`, r)
		}
	}
	w.text = append(w.text, '"')
}

var shortEscapes = map[rune]byte{
	0: '0', 7: 'a', 8: 'b', 9: 't', 10: 'n', 11: 'v', 12: 'f', 13: 'r', 27: 'e', '"': '"', '\\': '\\', 0x85: 'N', 0xa0: '_', 0x2028: 'L', 0x2029: 'P',
}

func printable(r rune) bool {
	return r >= 0xa0 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000 && r <= 0x10ffff
}

// analysis says how a text may be written.
type analysis struct {
	plain  bool // without quotes
	single bool // in single quotes
	block  bool // in a block
	breaks bool // it has more than one line
}

// analyze finds out by the rules of SnakeYAML how a text may be written.
func analyze(text string) analysis {
	a := analysis{plain: true, single: true, block: true}
	if text == "" {
		a.plain = false
		return a
	}
	if strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...") {
		a.plain = false
	}
	special := false
	before := rune(' ')
	for i, r := range text {
		behind, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		ends := i+utf8.RuneLen(r) == len(text) || behind == ' ' || behind == '\t' || isBreak(behind)
		switch {
		case i == 0 && (strings.ContainsRune("#,[]{}&*!|>'\"%@`", r) || strings.ContainsRune("?:-", r) && ends),
			r == ':' && ends,
			r == '#' && (before == ' ' || before == '\t' || isBreak(before)):
			a.plain = false
		}
		switch {
		case isBreak(r):
			a.breaks = true
			special = special || r != '\n'
			if before == ' ' {
				special = true
			}
		case r == ' ' && isBreak(before):
			a.plain, a.single = false, false
		case r != ' ' && (r < 0x20 || r > 0x7e) && !printable(r), r == utf8.RuneError, r == 0xfeff:
			special = true
		}
		before = r
	}
	switch {
	case special:
		a.plain, a.single, a.block = false, false, false
	case a.breaks:
		a.plain = false
	}
	if text[0] == ' ' {
		a.plain = false
	}
	if text[len(text)-1] == ' ' {
		a.plain, a.block = false, false
	}
	return a
}

func isBreak(r rune) bool { return r == '\n' || r == 0x85 || r == 0x2028 || r == 0x2029 }

// means tells whether a text without quotes would be read as something else than a text: by the rules of YAML 1.1.
func means(text string) bool { return meanings.MatchString(text) }

var meanings = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF`,
	`~|null|Null|NULL|<<|=`,
	`[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?`, `[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+`, `\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?`,
	`[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*`, `[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)`,
	`[-+]?0b_*[01][01_]*|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x_*[0-9a-fA-F][0-9a-fA-F_]*|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+`,
	`[0-9]{4}-[0-9]{2}-[0-9]{2}`,
	`[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9]{2})?))?`,
}, "|") + `)$`)
