package dockerfile

import (
	"encoding/json"
	"iter"
	"maps"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// instructions joins continued lines and leaves out comments.
func instructions(content string) []instruction {
	var all []instruction
	lines := strings.Split(strings.ReplaceAll(content, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		first, text := i+1, ""
		for ; i < len(lines); i++ {
			line := strings.TrimSpace(lines[i])
			if strings.HasPrefix(line, "#") || line == "" && text != "" {
				if text == "" {
					break
				}
				continue // within a continued line
			}
			rest, more := strings.CutSuffix(line, `\`)
			text += rest + " "
			if !more {
				break
			}
		}
		name, arguments, _ := strings.Cut(strings.TrimSpace(text), " ")
		if name == "" {
			continue
		}
		in := instruction{line: first, name: strings.ToUpper(name), arguments: strings.TrimSpace(arguments)}
		i = takeDocuments(lines, i, &in)
		all = append(all, in)
	}
	return all
}

// document matches the beginning of a here-document.
var document = lazy.Regexp(`<<[-~]?\s*["']?([A-Za-z_][A-Za-z0-9_.-]*)`)

// takeDocuments goes over the lines of here-documents. The last one of them is the instruction's.
func takeDocuments(lines []string, at int, in *instruction) int {
	if in.name != "RUN" && in.name != "COPY" && in.name != "ADD" {
		return at
	}
	for _, match := range document().FindAllStringSubmatch(in.arguments, -1) {
		for i := at + 1; i < len(lines); i++ {
			if strings.TrimSpace(lines[i]) == match[1] {
				in.document, at = strings.Join(lines[at+1:i], "\n"), i
				break
			}
		} // one that has no end is none
	}
	return at
}

// list reads the form ["a", "b"].
func list(text string) ([]string, bool) {
	var words []string
	err := json.Unmarshal([]byte(text), &words)
	return words, err == nil
}

// pairs are the names and values of ENV and LABEL. The old form, ENV NAME value, is one pair.
func (r *reader) pairs(in instruction) iter.Seq2[string, string] {
	words := split(in.arguments)
	if len(words) > 0 && !strings.Contains(words[0], "=") {
		name, value, _ := strings.Cut(in.arguments, " ")
		return maps.All(map[string]string{name: r.expand(strings.TrimSpace(value))})
	}
	return func(yield func(string, string) bool) {
		for _, word := range words {
			name, value, _ := strings.Cut(word, "=")
			if !strings.HasPrefix(value, "'") { // there nothing is expanded
				value = r.expand(unquote(value))
			}
			if !yield(unquote(name), unquote(value)) {
				return
			}
		}
	}
}

// split separates words at spaces outside of quotes.
func split(text string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	for _, c := range text + " " {
		switch {
		case quote == 0 && (c == ' ' || c == '\t'):
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
			continue
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
		word.WriteRune(c)
	}
	return words
}

// unquote takes quotes off that are around all of a text.
func unquote(text string) string {
	if len(text) >= 2 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0] {
		return text[1 : len(text)-1]
	}
	return text
}
