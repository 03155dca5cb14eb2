package texts

import "unicode/utf8"

// AppendGson appends text as a JSON string, escaped the way Java's Gson does by default, so
// that what we store and pass on equals, byte for byte, what Java peers write: besides what JSON
// requires, < > & = ' and the two line separators of Unicode are escaped. Bytes that are not UTF-8
// become U+FFFD.
func AppendGson(dst []byte, text string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if escaped := gsonEscape(r, size); escaped != "" {
			dst = append(dst, text[from:i]...)
			dst = append(dst, escaped...)
			from = i + size
		}
		i += size
	}
	dst = append(dst, text[from:]...)
	return append(dst, '"')
}

// gsonEscape returns what Gson writes for a rune that it does not write as it stands, else "".
func gsonEscape(r rune, size int) string {
	switch {
	case r < utf8.RuneSelf:
		return gsonEscapes[r]
	case r == '\u2028':
		return `\u2028`
	case r == '\u2029':
		return `\u2029`
	case r == utf8.RuneError && size == 1:
		return "\uFFFD"
	default:
		return ""
	}
}

var gsonEscapes = func() (table [utf8.RuneSelf]string) {
	const hex = "0123456789abcdef"
	unicode := func(c byte) string { return `\u00` + string([]byte{hex[c>>4], hex[c&15]}) }
	for c := range byte(' ') {
		table[c] = unicode(c)
	}
	for _, c := range []byte("<>&='") {
		table[c] = unicode(c)
	}
	table['"'], table['\\'] = `\"`, `\\`
	table['\t'], table['\b'], table['\n'], table['\r'], table['\f'] = `\t`, `\b`, `\n`, `\r`, `\f`
	return table
}()
