package dockerfile

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// copied is a file that the last stage takes from another one.
type copied struct {
	in       instruction
	from, to string
}

// copy takes notice of where sources and programs are put.
func (r *reader) copy(in instruction) {
	words, stage := in.arguments, false
	for strings.HasPrefix(words, "--") {
		stage = stage || strings.HasPrefix(words, "--from=")
		_, words, _ = strings.Cut(words, " ")
		words = strings.TrimSpace(words)
	}
	paths, ok := list(words)
	if !ok {
		paths = strings.Fields(words)
	}
	for i := range paths {
		paths[i] = r.expand(paths[i])
	}
	switch {
	case r.last && stage && len(paths) == 2:
		r.copies = append(r.copies, copied{in, within("/", paths[0]), r.target(paths[1], path.Base(paths[0]))})
	case r.last:
		r.apart(in, onlyProgram)
	case !stage && len(paths) > 1 && r.root == "":
		r.findRoot(paths[:len(paths)-1], paths[len(paths)-1])
	}
}

const onlyProgram = "the image holds only the program"

// findRoot finds out where the sources are: where go.mod is copied to, with all or by itself.
func (r *reader) findRoot(from []string, to string) {
	for _, f := range from {
		switch path.Clean(f) {
		case ".":
			r.root = within(r.workdir, to)
		case "go.mod", "go.*":
			r.root = path.Dir(r.target(to, "go.mod"))
		}
	}
}

// target is where a file is copied to.
func (r *reader) target(to, name string) string {
	full := within(r.workdir, to)
	if strings.HasSuffix(to, "/") || to == "." {
		return path.Join(full, name)
	}
	return full
}

// within is a path seen from a folder.
func within(dir, to string) string {
	if path.IsAbs(to) {
		return path.Clean(to)
	}
	return path.Join("/", dir, to)
}

// choose decides which program the image is of: the one that is started, or else the first one that is copied, or else
// the last one that is built.
func (r *reader) choose() {
	started := r.recipe.Started()
	var taken *copied
	for i, c := range r.copies {
		if c.to != started && (taken != nil || r.built(c.from) == nil) || taken != nil && taken.to == started {
			continue
		}
		if r.built(c.from) != nil || len(r.builds) == 0 { // no build that is understood made the one that is started
			taken = &r.copies[i]
		}
	}
	if len(r.builds) > 0 {
		r.recipe.Build = r.builds[len(r.builds)-1]
	}
	if taken != nil {
		r.recipe.Binary = taken.to
		if b := r.built(taken.from); b != nil {
			r.recipe.Build = *b
		}
	}
	for i, c := range r.copies {
		if taken != &r.copies[i] {
			r.apart(c.in, onlyProgram)
		}
	}
	if r.recipe.Binary == "" && len(r.recipe.Entrypoint) > 0 {
		r.recipe.Binary = started
	}
	slices.SortStableFunc(r.recipe.Apart, func(a, b Line) int { return cmp.Compare(a.Number, b.Number) })
}

// built finds the build that made a file, by its path or, as sources may be anywhere, by its name.
func (r *reader) built(file string) *Build {
	for _, same := range []func(string) bool{
		func(output string) bool { return output == file },
		func(output string) bool { return path.Base(output) == path.Base(file) },
	} {
		if i := slices.IndexFunc(r.builds, func(b Build) bool { return same(b.output) }); i >= 0 {
			return &r.builds[i]
		}
	}
	return nil
}

// searched is where a program is looked for that is started by its name alone.
const searched = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Started is the path of the program that ENTRYPOINT starts, or CMD if there is no other; "" if there is neither.
func (r Recipe) Started() string {
	words := slices.Concat(r.Entrypoint, r.Command)
	switch {
	case len(words) == 0:
		return ""
	case strings.Contains(words[0], "/"):
		return within(r.Workdir, words[0])
	case path.Base(r.Binary) == words[0] && slices.Contains(strings.Split(searched, ":"), path.Dir(r.Binary)):
		return r.Binary
	}
	return path.Join("/usr/local/bin", words[0])
}
