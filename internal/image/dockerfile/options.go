package dockerfile

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/recipe"
)

// The go command is not in a container here: it runs as the user, and some of its flags have it start a program or
// write a file that they name. So only flags that are known to do neither are taken, and of their values only those.

// option is a flag of go build.
type option struct {
	separate bool // its value may be the next word
	// kept returns what is left of a value, and why not all of it is. Without it the flag is of no importance here.
	kept func(b *buildLine, value string) (kept, why string)
}

// options are the flags of go build, without their dashes. What is not here is left out.
var options = map[string]option{
	"ldflags": {true, nil}, "gcflags": {true, keptCompilerFlags}, "tags": {true, matching(`[\pL\pN_., ]*`)},
	"mod": {true, matching(`readonly|vendor|mod`)}, "modfile": {true, keptModFile}, "buildvcs": {false, matching(`true|false|auto|`)},
	"pgo": {true, matching(`auto|off`)},

	"o": {true, nil}, "C": {true, nil}, "p": {true, nil}, "pkgdir": {true, nil}, "installsuffix": {true, nil},
	"a": {}, "v": {}, "x": {}, "n": {}, "trimpath": {}, "work": {}, "modcacherw": {}, "json": {},

	"asmflags": {true, refused(notKnown)}, "gccgoflags": {true, refused(runs)}, "compiler": {true, matching(`gc`)}, "buildmode": {true, matching(`default|exe|pie`)},
	"overlay": {true, refused(outside)}, "toolexec": {true, refused(runs)}, "coverpkg": {true, refused(notKnown)}, "covermode": {true, refused(notKnown)},
}

// Why something is left out.
const (
	notKnown   = "slipway accepts only values that are known to be safe outside a container"
	runs       = "it can make the go command run a program outside a container"
	outside    = "it names a file outside the project"
	noCLinker  = "slipway runs no C linker"
	byPlatform = "use --platform instead, as in linux/amd64/v3"
	yours      = "the go command downloads modules and toolchains with your own settings"
)

// harmless are those of them without which the program is the same.
var harmless = []string{noCLinker, byPlatform, yours}

// refused takes no value.
func refused(why string) func(*buildLine, string) (string, string) {
	return func(*buildLine, string) (string, string) { return "", why }
}

// matching takes values that match a pattern as a whole.
func matching(pattern string) func(*buildLine, string) (string, string) {
	whole := lazy.Regexp(`^(?:` + pattern + `)$`)
	return func(_ *buildLine, value string) (string, string) {
		if strings.Contains(value, recipe.Unknown) {
			return "", outputs
		}
		if whole().MatchString(value) {
			return value, ""
		}
		return "", notKnown
	}
}

// buildLine is a call of go build that is being read.
type buildLine struct {
	*script
	Build
	dir      string // where it is run
	output   string
	packages []string
}

// omit notes a part of the call that is left out.
func (b *buildLine) omit(part, why string) {
	b.note(Line{File: b.file, Number: b.line, Text: shortened(part), Why: why, Flag: true, Harmless: slices.Contains(harmless, why)})
}

// flags takes the flags and the package of a call.
func (b *buildLine) flags(words []string) {
	for i := 0; i < len(words); i++ {
		flag, ok := strings.CutPrefix(words[i], "-")
		if !ok {
			b.packages = append(b.packages, words[i])
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(flag, "-"), "=")
		if !given && options[name].separate && i+1 < len(words) {
			i++
			value = words[i]
		}
		b.flag(name, value)
	}
}

// flag takes a flag.
func (b *buildLine) flag(name, value string) {
	known, ok := options[name]
	switch {
	case !ok:
		b.omit("-"+name, "-"+name+" is unknown to slipway")
	case name == "o":
		b.output = value
	case name == "C":
		b.dir = within(b.dir, value)
	case name == "ldflags":
		b.linkerFlags(value)
	case known.kept != nil:
		kept, why := known.kept(b, value)
		if why != "" {
			b.omit("-"+name+"="+value, why)
		}
		if why == "" || kept != "" {
			b.Flags = append(b.Flags, "-"+name+"="+kept)
		}
	}
}

// environment takes the variables of a call that the go command heeds.
func (b *buildLine) environment(env map[string]string) {
	for _, name := range heeded {
		value := env[name]
		switch take, known := values[name]; {
		case value == "", known && take == nil:
		case strings.Contains(value, recipe.Unknown):
			b.omit(name+"="+value, outputs)
		case name == "GOFLAGS":
			for _, field := range fields(value) {
				name, value, _ := strings.Cut(strings.TrimLeft(field, "-"), "=")
				b.flag(name, value)
			}
		case slices.Contains(fetching, name):
			b.omit(name+"="+value, yours)
		case slices.Contains(levels, name):
			b.omit(name+"="+value, byPlatform)
		case !known:
			b.omit(name+"="+value, runs)
		case !take().MatchString(value):
			b.omit(name+"="+value, notKnown)
		default:
			b.Env = append(b.Env, name+"="+value)
		}
	}
}

// heeded are the variables by which the go command makes another program, or makes it in another way.
var heeded = []string{"GOFLAGS", "GOEXPERIMENT", "GOFIPS140", "CGO_ENABLED", "GOOS", "GOARCH", "GO111MODULE", "GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS",
	"GOMIPS64", "GOPPC64", "GORISCV64", "GOWASM", "AR", "CC", "CXX", "FC", "GCCGO", "PKG_CONFIG", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_FFLAGS",
	"CGO_LDFLAGS", "GOAUTH", "GOCACHEPROG", "GODEBUG", "GOENV", "GOINSECURE", "GONOPROXY", "GONOSUMDB", "GOPRIVATE", "GOPROXY", "GOROOT", "GOSUMDB", "GOTOOLCHAIN",
	"GOTOOLDIR", "GOVCS", "GOWORK"}

// fetching are those of them that say where modules and toolchains come from.
var fetching = []string{"GOINSECURE", "GONOPROXY", "GONOSUMDB", "GOPRIVATE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN", "GOVCS"}

// levels are those of processors.
var levels = []string{"GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64", "GOWASM"}

// values are what variables may have. Those without a pattern follow from the platform that an image is built for, or
// are so in any case.
var values = map[string]func() *regexp.Regexp{
	"GOEXPERIMENT": lazy.Regexp(`^[a-z0-9]+(,[a-z0-9]+)*$`),
	"GOFIPS140":    lazy.Regexp(`^(off|latest|inprocess|certified|v[0-9]+\.[0-9]+\.[0-9]+)$`),
	"CGO_ENABLED":  nil, "GOOS": nil, "GOARCH": nil, "GO111MODULE": nil,
}

// perPackage separates -gcflags=PATTERN=FLAGS.
var perPackage = lazy.Regexp(`^([A-Za-z0-9_./~*-]*[A-Za-z0-9_./~*]=)?(.*)$`)

func splitPattern(value string) (pattern, flags string) {
	if strings.HasPrefix(strings.TrimSpace(value), "-") {
		return "", value
	}
	match := perPackage().FindStringSubmatch(value)
	if match == nil {
		return "", value
	}
	return match[1], match[2]
}

// keptCompilerFlags are those for debuggers.
func keptCompilerFlags(_ *buildLine, value string) (kept, why string) {
	pattern, flags := splitPattern(value)
	var all []string
	for _, field := range fields(flags) {
		if !slices.Contains([]string{"-N", "-l", "-B", "-dwarf=true", "-dwarf=false"}, field) {
			why = notKnown
			continue
		}
		all = append(all, field)
	}
	return joined(pattern, all), why
}

// variable is what -X sets. Its name never begins with @, from which the linker would read a file of flags.
var variable = lazy.Regexp(`^[\pL\pN_./~-]+\.[\pL\pN_]+=`)

// linkerFlags takes those that leave out tables, name the build and set variables. Others name programs, or files.
func (b *buildLine) linkerFlags(value string) {
	pattern, flags := splitPattern(value)
	words := fields(flags)
	var all []string
	for i := 0; i < len(words); i++ {
		first := i
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(words[i], "-"), "-"), "=")
		if !given && slices.Contains([]string{"X", "buildid", "extldflags", "extld", "linkmode", "I", "r", "L"}, name) && strings.HasPrefix(words[i], "-") && i+1 < len(words) {
			i++
			value = words[i]
		}
		flag := words[first : i+1]
		switch {
		case strings.Contains(value, recipe.Unknown) && name == "X":
			b.withoutValue(strings.Join(flag, " "))
		case strings.Contains(words[first]+value, recipe.Unknown):
			b.omit("-ldflags="+strings.Join(flag, " "), outputs)
		case !strings.HasPrefix(words[first], "-"):
			b.omit("-ldflags="+words[first], notKnown)
		case (name == "s" || name == "w") && (!given || slices.Contains([]string{"true", "false", "1", "0"}, value)):
			all = append(all, flag...)
		case name == "X" && variable().MatchString(value):
			all = append(all, flag...)
		case name == "buildid":
			all = append(all, "-buildid="+value)
		case name == "extldflags":
			b.omit("-ldflags="+strings.Join(flag, " "), noCLinker)
		case name == "linkmode" && value == "internal":
		default:
			b.omit("-ldflags="+strings.Join(flag, " "), runs)
		}
	}
	if len(all) > 0 || len(words) == 0 {
		b.Flags = append(b.Flags, "-ldflags="+joined(pattern, all))
	}
}

// withoutValue notes a -X whose value is not known. The program works without: its variable keeps the value that it has
// in the code.
func (b *buildLine) withoutValue(flag string) {
	why := outputs
	if name := unknown().FindStringSubmatch(flag)[1]; name != "" {
		why = "slipway does not know the value of " + name + "; --build-arg " + name + "=… sets it"
	}
	b.note(Line{File: b.file, Number: b.line, Text: shortened(flag), Why: why, Flag: true, Harmless: true})
}

// joined is the text of flags for a pattern; "" if there are none.
func joined(pattern string, flags []string) string {
	if len(flags) == 0 {
		return ""
	}
	return pattern + strings.Join(quoted(flags), " ")
}

// quoted quotes fields as the go command reads them. One with spaces was in quotes of one kind, so it has none of the
// other.
func quoted(all []string) []string {
	var texts []string
	for _, text := range all {
		switch {
		case !strings.ContainsAny(text, spaces):
		case strings.Contains(text, "'"):
			text = `"` + text + `"`
		default:
			text = "'" + text + "'"
		}
		texts = append(texts, text)
	}
	return texts
}

const spaces = " \t\r\n"

// fields separates flags as the go command does: at spaces, but for those in quotes, which begin a field.
func fields(text string) []string {
	var all []string
	for text = strings.TrimLeft(text, spaces); text != ""; text = strings.TrimLeft(text, spaces) {
		var field string
		if quote := text[0]; quote == '\'' || quote == '"' {
			field, text, _ = strings.Cut(text[1:], string(quote))
		} else if end := strings.IndexAny(text, spaces); end >= 0 {
			field, text = text[:end], text[end:]
		} else {
			field, text = text, ""
		}
		all = append(all, field)
	}
	return all
}

// keptModFile is the path of another go.mod, seen from where go.mod is.
func keptModFile(b *buildLine, value string) (kept, why string) {
	if strings.Contains(value, recipe.Unknown) {
		return "", outputs
	}
	below := path.Clean(value)
	if b.root != "" {
		var ok bool
		if below, ok = strings.CutPrefix(within(b.dir, value), withSlash(b.root)); !ok {
			return "", outside
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(below)) {
		return "", outside
	}
	return below, ""
}
