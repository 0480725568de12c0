package makefile

import (
	"io/fs"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/recipe"
)

const unknownValue = recipe.Unknown

// The limits of expansion: the depth, the number and the total bytes of references. Without them, a variable that names
// another a thousand times, at each of several levels, would become gigabytes.
const (
	maxDepth = 20
	maxSteps = 1 << 20
	maxBytes = 4 << 20
)

// maxValue bounds the unexpanded value of a variable, in bytes.
const maxValue = 64 << 10

// maxIncluded bounds the number of included files.
const maxIncluded = 200

type variable struct {
	value       string
	added       *strings.Builder // holds value once += was used
	conditional bool             // assigned inside ifeq or the like
	file        string
	line        int
}

// reader collects a Makefile's variables and recipes.
type reader struct {
	getenv    func(string) string
	files     fs.FS
	included  map[string]bool // files may include themselves
	file      string          // the file being read
	variables map[string]variable
	recipes   []line
	heads     []ruleHead
	given     map[string]string // assignments on the command line
	exported  map[string]bool
	automatic string // value of $@
	names     bool   // append the variable's name and [recipe.Named] to opaque

	steps     int // calls of expand so far
	bytes     int // bytes of expanded references so far
	target    string
	command   string // makes target
	rule      int    // number of rules so far
	condition int    // nesting depth of ifeq and the like
	define    bool   // inside define
}

func read(content string, getenv func(string) string, files fs.FS, given map[string]string) *reader {
	m := &reader{getenv: getenv, files: files, file: Name, given: given, exported: make(map[string]bool), included: make(map[string]bool), variables: make(map[string]variable)}
	for name, value := range given {
		m.variables[name] = variable{value: value}
	}
	m.lines(content)
	return m
}

// lines reads a file's text.
func (m *reader) lines(content string) {
	lines := strings.Split(strings.ReplaceAll(content, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		first, text := i, lines[i]
		var before strings.Builder
		for strings.HasSuffix(text, `\`) && i+1 < len(lines) {
			before.WriteString(strings.TrimSuffix(text, `\`) + " ")
			i++
			text = strings.TrimSpace(lines[i])
		}
		if before.Len() > 0 {
			before.WriteString(text)
			text = before.String()
		}
		m.line(first+1, text)
	}
}

// includes reads the files that an include line names, each once.
func (m *reader) includes(names string) {
	if m.files == nil {
		return
	}
	for _, pattern := range strings.Fields(m.expand(withoutComment(names), 0)) {
		pattern = path.Clean(pattern)
		if strings.ContainsAny(path.Dir(pattern), `*?[\`) {
			continue // through links, one such pattern could match any number of files
		}
		found, err := fs.Glob(m.files, pattern)
		if err != nil {
			continue // make may accept the pattern
		}
		for _, name := range found {
			m.read(name)
		}
	}
}

// read reads an included file. It ignores one that cannot be read, as -include does.
func (m *reader) read(name string) {
	if m.included[name] || len(m.included) == maxIncluded {
		return
	}
	text, err := recipe.Read(m.files, name)
	if err != nil {
		return
	}
	m.included[name] = true
	including := m.file
	m.file, m.target = name, ""
	m.lines(string(text))
	m.file, m.target = including, ""
}

var (
	assignment = lazy.Regexp(`^\s*(?:(?:export|override)\s+)*([A-Za-z0-9_.-]+)\s*(\?|::?:?|\+|!)?=\s*(.*)$`)
	rule       = lazy.Regexp(`^([^\s:=#][^:=#]*)::?([^=].*)?$`)
)

func (m *reader) line(number int, text string) {
	switch word, _, _ := strings.Cut(strings.TrimSpace(text), " "); {
	case m.define:
		m.define = word != "endef"
	case strings.HasPrefix(text, "\t") && m.target != "":
		m.recipes = append(m.recipes, line{file: m.file, line: number, target: m.target, command: m.command, rule: m.rule, text: text[1:], conditional: m.condition > 0})
	case word == "define":
		m.define = true
	case strings.HasPrefix(word, "ifeq") || strings.HasPrefix(word, "ifneq") || word == "ifdef" || word == "ifndef":
		m.condition++
	case word == "include" || word == "-include" || word == "sinclude":
		m.includes(strings.TrimPrefix(strings.TrimSpace(text), word))
	case word == "endif":
		m.condition = max(0, m.condition-1)
	default:
		m.declaration(number, text)
	}
}

// declaration reads an assignment or the head of a rule.
func (m *reader) declaration(number int, text string) {
	text = withoutComment(text)
	if strings.TrimSpace(text) == "" {
		return
	}
	words := strings.Fields(text)
	if a := assignment().FindStringSubmatch(text); a != nil {
		m.exported[a[1]] = m.exported[a[1]] || words[0] == "export"
		m.assign(number, a[1], a[2], strings.TrimSpace(a[3]))
		return
	}
	if words[0] == "export" {
		for _, name := range words[1:] {
			m.exported[name] = true
		}
		return
	}
	if r := rule().FindStringSubmatch(text); r != nil {
		m.target = strings.TrimSpace(r[1])
		m.command = command(m.target)
		m.rule++
		needs, first, inline := strings.Cut(r[2], ";")
		if strings.Count(needs, "(") != strings.Count(needs, ")") { // the semicolon is inside a reference
			needs, inline = r[2], false
		}
		m.heads = append(m.heads, ruleHead{line{file: m.file, line: number, target: m.target, rule: m.rule, text: text, conditional: m.condition > 0}, needs})
		if inline {
			m.recipes = append(m.recipes, line{file: m.file, line: number, target: m.target, rule: m.rule, text: strings.TrimSpace(first), conditional: m.condition > 0})
		}
	}
}

func (m *reader) assign(line int, name, operator, value string) {
	known, exists := m.variables[name]
	if _, given := m.given[name]; given {
		return
	}
	var added *strings.Builder
	switch operator {
	case "?":
		if exists {
			return
		}
		if set := m.getenv(name); set != "" {
			value = strings.ReplaceAll(set, "$", "$$")
		}
	case "+":
		added = known.add(value)
		value = added.String()
	case "!":
		value = unknownValue
	}
	if len(value) > maxValue {
		value, added = unknownValue, nil
	}
	m.variables[name] = variable{value: value, added: added, conditional: m.condition > 0 || known.conditional, file: m.file, line: line}
}

// add appends to the value, in linear time over many additions.
func (v variable) add(value string) *strings.Builder {
	if v.added == nil {
		v.added = &strings.Builder{}
		v.added.WriteString(strings.TrimSpace(v.value))
	}
	if v.added.Len() > 0 && value != "" {
		v.added.WriteByte(' ')
	}
	v.added.WriteString(value)
	return v.added
}

func withoutComment(text string) string {
	if at := strings.Index(text, "#"); at >= 0 && (at == 0 || text[at-1] != '\\') {
		return text[:at]
	}
	return text
}

// expand replaces references with their values. Unknown values become opaque.
func (m *reader) expand(text string, depth int) string {
	if m.steps++; depth > maxDepth || m.steps > maxSteps {
		return unknownValue
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case '$':
			b.WriteByte('$')
		case '(', '{':
			end := closing(text, i)
			if end < 0 {
				return unknownValue
			}
			b.WriteString(m.limitedReference(text[i+1:end], depth))
			i = end
		default:
			if text[i] != '@' || m.automatic == "" {
				b.WriteString(unknownValue) // another automatic variable
				continue
			}
			b.WriteString(m.automatic)
		}
	}
	return b.String()
}

// limitedReference returns the value of a reference, or opaque if that would exceed maxBytes.
func (m *reader) limitedReference(inner string, depth int) string {
	if !m.withinLimit(0) {
		return unknownValue
	}
	if value := m.reference(inner, depth); m.withinLimit(len(value)) {
		return value
	}
	return unknownValue
}

// withinLimit counts bytes of a reference and reports whether the limit allows them.
func (m *reader) withinLimit(bytes int) bool {
	m.bytes += bytes
	return m.bytes <= maxBytes
}

// closing returns the index of the bracket that closes the one at open, or -1.
func closing(text string, open int) int {
	opener, closer := text[open], byte(')')
	if opener == '{' {
		closer = '}'
	}
	depth := 0
	for i := open; i < len(text); i++ {
		switch text[i] {
		case opener:
			depth++
		case closer:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// reference returns the value of $(inner).
func (m *reader) reference(inner string, depth int) string {
	if value, known := m.variables[inner]; known {
		if value.conditional {
			return m.named(inner, unknownValue)
		}
		return m.named(inner, m.expand(value.value, depth+1))
	}
	if words, ok := strings.CutPrefix(inner, "abspath "); ok {
		return m.absPaths(words, depth)
	}
	switch strings.Join(strings.Fields(inner), " ") {
	case "CURDIR", "shell pwd":
		return recipe.Root
	case "shell date +%Y", `shell date "+%Y"`, "shell date '+%Y'":
		return recipe.Year()
	}
	if !strings.ContainsAny(inner, " ,$:") {
		return m.getenv(inner) // for an undefined variable, make uses the environment, or ""
	}
	return unknownValue
}

// named appends a variable's name to an unknown value, except if the value is a list or has another variable's name.
func (m *reader) named(name, value string) string {
	if !m.names || strings.ContainsAny(value, " \t"+recipe.Named) || strings.HasPrefix(value, "-") {
		return value
	}
	return strings.ReplaceAll(value, unknownValue, unknownValue+name+recipe.Named)
}

// absPaths returns the paths of $(abspath words).
func (m *reader) absPaths(words string, depth int) string {
	text := m.expand(words, depth+1)
	if strings.Contains(text, unknownValue) {
		return unknownValue
	}
	paths := strings.Fields(text)
	for i, name := range paths {
		if rel, ok := recipe.Below("", name); ok {
			paths[i] = path.Join(recipe.Root, rel)
		} else {
			paths[i] = path.Clean(name)
		}
	}
	return strings.Join(paths, " ")
}
