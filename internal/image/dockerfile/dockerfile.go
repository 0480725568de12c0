// Package dockerfile reads from a project's Dockerfile how its manager is built and started, without running anything.
//
//	recipe := dockerfile.Read(content, map[string]string{"VERSION": "v1"})
//	recipe.Build.Package, recipe.Build.Flags   // of go build
//	recipe.Binary, recipe.Entrypoint, recipe.User
//	recipe.Apart                               // what an image of the manager alone has no place for
//	recipe.Omitted                             // what the go command is not given
//
// It understands the Dockerfiles that operators have: a stage in which the go command builds, and a last one into which
// the program is copied. Whatever else a Dockerfile does, a package that is installed, a file that is copied, it does
// not guess at: it names the line, so that no user takes an image without it for one with it.
//
// A Dockerfile is the project's, and here the go command runs as the user and not in a container. It gets only flags
// and variables that are known to start no program and to name no file outside of the project. The others are Omitted.
package dockerfile

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/image/reference"
)

// Recipe is what a Dockerfile says.
type Recipe struct {
	Build      Build
	Base       string // image of the last stage; "" if it adds nothing to the program
	Binary     string // path of the program in the image; "" if nothing says it
	Workdir    string // folder that the program is started in
	Entrypoint []string
	Command    []string
	User       string
	Env        []string // NAME=value
	Labels     map[string]string
	Apart      []Line
	Omitted    []Line // flags and variables of go build that are not taken
}

// Build is a call of go build.
type Build struct {
	Line    int    // 0: there is none
	Package string // like ./cmd or cmd/main.go, seen from where go.mod is; "" is that folder itself
	Flags   []string
	Env     []string // NAME=value, of what the go command heeds
	output  string   // path in its stage
}

// Line is an instruction that has no part in the recipe.
type Line struct {
	Number int
	Text   string // shortened
	Why    string
}

// instruction is one logical line.
type instruction struct {
	line      int
	name      string // in capitals
	arguments string
	document  string // its here-document
}

// reader is a Dockerfile that is being read.
type reader struct {
	recipe    Recipe
	arguments map[string]string // given from outside
	global    map[string]string // ARG before the first FROM
	variables map[string]string // ARG and ENV of the stage
	last      bool              // the stage is the last one
	workdir   string
	root      string            // where the sources are in the stage; "" is not known
	stages    map[string]string // images by the names of stages
	builds    []Build
	copies    []copied
	left      int // bytes that variables may still stand for
}

// MaxSize is how long a Dockerfile may be that is read; those of projects have some kilobytes.
const MaxSize = 128 << 10

// maxExpanded is how many bytes variables stand for in all of a Dockerfile: a few lines that double one would take all
// memory.
const maxExpanded = 1 << 20

// Read reads a Dockerfile. Arguments are those of --build-arg.
func Read(content string, arguments map[string]string) Recipe {
	all := instructions(strings.TrimPrefix(content, "\ufeff"))
	return read(all, arguments)
}

// ReadStage reads a Dockerfile up to the stage target, by its name or number as docker build takes it, as if that were
// the last one. An empty target is the last one.
func ReadStage(content, target string, arguments map[string]string) (Recipe, error) {
	all := instructions(strings.TrimPrefix(content, "\ufeff"))
	if target == "" {
		return read(all, arguments), nil
	}
	var names []string
	for i, in := range all {
		if in.name != "FROM" {
			continue
		}
		name := stageName(in, len(names))
		names = append(names, name)
		if strings.EqualFold(name, target) || strconv.Itoa(len(names)-1) == target {
			return read(all[:stageEnd(all, i)], arguments), nil
		}
	}
	return Recipe{}, fmt.Errorf("it has the stages %s", strings.Join(names, ", "))
}

// stageName is the name of the nth stage, which in begins: its number if it has no other.
func stageName(in instruction, n int) string {
	words := strings.Fields(in.arguments)
	if len(words) > 2 && strings.EqualFold(words[len(words)-2], "AS") {
		return words[len(words)-1]
	}
	return strconv.Itoa(n)
}

// stageEnd is where the stage ends that begins at from.
func stageEnd(all []instruction, from int) int {
	for i := from + 1; i < len(all); i++ {
		if all[i].name == "FROM" {
			return i
		}
	}
	return len(all)
}

func read(all []instruction, arguments map[string]string) Recipe {
	r := &reader{arguments: arguments, global: map[string]string{}, stages: map[string]string{}, recipe: Recipe{Labels: map[string]string{}}, left: maxExpanded}
	r.variables = r.global
	from := 0
	for i, in := range all {
		if in.name == "FROM" {
			from = i
		}
	}
	for i, in := range all {
		r.last = i >= from
		r.instruction(in)
	}
	r.choose()
	return r.recipe
}

// apart notes an instruction that has no part in the recipe.
func (r *reader) apart(in instruction, why string) {
	r.recipe.Apart = append(r.recipe.Apart, Line{in.line, shortened(in.name + " " + in.arguments), why})
}

// shortened is a text as messages have it, in one line.
func shortened(text string) string {
	const shown = 60
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "…"
	}
	return text
}

func (r *reader) instruction(in instruction) {
	switch in.name {
	case "FROM":
		r.from(in)
	case "ARG":
		r.arg(in)
	case "ENV":
		r.env(in)
	case "RUN":
		r.run(in)
	case "WORKDIR":
		r.workdir = within(r.workdir, r.expand(unquote(in.arguments)))
		if r.last {
			r.recipe.Workdir = r.workdir
		}
	case "COPY", "ADD":
		r.copy(in)
	case "EXPOSE", "MAINTAINER":
	default:
		if r.last {
			r.configure(in)
		}
	}
}

// configure takes what the last stage says about starting the program.
func (r *reader) configure(in instruction) {
	switch in.name {
	case "USER":
		r.recipe.User = r.expand(in.arguments)
	case "ENTRYPOINT", "CMD":
		words, ok := list(in.arguments)
		if !ok {
			r.apart(in, "it needs a shell, which the image does not have")
			return
		}
		if in.name == "CMD" {
			r.recipe.Command = words
			return
		}
		r.recipe.Entrypoint = words
	case "LABEL":
		for name, value := range r.pairs(in) {
			r.recipe.Labels[name] = value
		}
	default:
		r.apart(in, "slipway does not know it")
	}
}

// from begins a stage.
func (r *reader) from(in instruction) {
	r.variables, r.workdir, r.root = map[string]string{"PATH": searched}, "/", ""
	words := strings.Fields(in.arguments)
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	image := r.expandWith(words[0], r.global)
	if of, ok := r.stages[strings.ToLower(image)]; ok {
		image = of
	}
	if len(words) == 3 {
		r.stages[strings.ToLower(words[2])] = image
	}
	if r.last && !plain(image) {
		r.recipe.Base = image
	}
}

// plain says whether an image has nothing that an image of a static program lacks.
func plain(image string) bool {
	repository, _, _ := reference.Split(image)
	name := path.Base(repository)
	return image == "scratch" || strings.Contains(repository, "distroless/") && (name == "static" || strings.HasPrefix(name, "static-"))
}

func (r *reader) arg(in instruction) {
	for _, word := range split(in.arguments) {
		name, value, given := strings.Cut(word, "=")
		value = r.expand(unquote(value))
		if outer := r.global[name]; outer != "" && !given {
			value, given = outer, true
		}
		if argument, ok := r.arguments[name]; ok {
			value, given = argument, true
		}
		if _, known := r.variables[name]; given || !known && !slices.Contains(platforms, name) { // without a value it stands for nothing
			r.variables[name] = value
		}
	}
}

// platforms are the arguments to which the builder gives values by itself.
var platforms = []string{"TARGETPLATFORM", "TARGETOS", "TARGETARCH", "TARGETVARIANT", "TARGETSTAGE", "BUILDPLATFORM", "BUILDOS", "BUILDARCH", "BUILDVARIANT"}

func (r *reader) env(in instruction) {
	for name, value := range r.pairs(in) {
		r.variables[name] = value
		if r.last {
			r.recipe.Env = append(r.recipe.Env, name+"="+value)
		}
	}
}
