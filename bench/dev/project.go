package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// kubebuilder is the command that makes the project.
const kubebuilder = "sigs.k8s.io/kubebuilder/v4@v4.16.0"

// calls make the project: a kind with a reconciler and webhooks.
var calls = []string{
	"init --domain example.com --repo example.com/op --project-name op",
	"create api --group ship --version v1 --kind Frigate --resource --controller --make=false",
	"create webhook --group ship --version v1 --kind Frigate --defaulting --programmatic-validation --make=false",
}

// The files that are saved.
const (
	controllerFile = "internal/controller/frigate_controller.go"
	typesFile      = "api/v1/frigate_types.go"
	sampleFile     = "config/samples/ship_v1_frigate.yaml"
)

// project is a folder with a copy of the project.
type project string

// makeProjects has kubebuilder make the project. Each side works on a copy of its own: one must not build what the
// other saves. Afterwards all that a change does not affect is compiled, with the flags of each side.
func (b *bench) makeProjects(ctx context.Context) error {
	b.loop, b.plain = project(filepath.Join(b.dir, "loop", "op")), project(filepath.Join(b.dir, "plain", "op"))
	install := b.command(ctx, b.dir, "go", "install", kubebuilder)
	install.Env = append(install.Env, "GOBIN="+b.dir, "GOFLAGS=-mod=mod")
	if err := output(install); err != nil {
		return err
	}
	if err := os.MkdirAll(string(b.loop), 0o755); err != nil {
		return err
	}
	for _, call := range calls {
		if err := output(b.command(ctx, string(b.loop), filepath.Join(b.dir, "kubebuilder"), strings.Fields(call)...)); err != nil {
			return err
		}
	}
	if err := b.loop.prepare(b.marks); err != nil {
		return err
	}
	if err := b.run(ctx, string(b.loop), "generate"); err != nil {
		return err
	}
	if err := os.CopyFS(string(b.plain), os.DirFS(string(b.loop))); err != nil {
		return err
	}
	if err := b.plain.replace("cmd/main.go", regexp.MustCompile(`":8081"`), `":0"`); err != nil { // as slipway dev does where it is taken
		return err
	}
	if err := output(b.command(ctx, string(b.plain), "make", "build")); err != nil { // installs controller-gen, too
		return err
	}
	return output(b.goBuild(ctx, b.loop, imageFlags...))
}

// prepare makes what is saved later out of the places that kubebuilder leaves to its users.
func (p project) prepare(first int) error {
	return errors.Join(
		p.replace(controllerFile, regexp.MustCompile(`_ = (logf?\.FromContext\(ctx\))`), `$1.Info("mark 0")`),
		p.replace(typesFile, regexp.MustCompile(`(// \+optional\n)(\tFoo )`), "$1\t// +kubebuilder:validation:MaxLength=10\n$2"),
		p.comment(typesFile, fmt.Sprintf("From mark %d on.", first)), // Go's cache has what earlier runs compiled
		p.replace(sampleFile, regexp.MustCompile(`  # TODO\(user\): .*`), "  foo: v-0"),
	)
}

// mark saves a reconciler that logs another text, and returns that.
func (p project) mark(number int) (string, error) {
	text := fmt.Sprintf("mark %d", number)
	return text, p.replace(controllerFile, regexp.MustCompile(`mark \d+`), text)
}

// limit saves another limit of a field's length.
func (p project) limit(length int) error {
	return p.replace(typesFile, regexp.MustCompile(`MaxLength=\d+`), fmt.Sprintf("MaxLength=%d", length))
}

// sample saves a sample with another value, and returns that.
func (p project) sample(number int) (string, error) {
	value := fmt.Sprintf("v-%d", number)
	return value, p.replace(sampleFile, regexp.MustCompile(`v-\d+`), value)
}

var errOtherCode = errors.New("kubebuilder has written other code than expected")

// replace saves a file in which one place is another.
func (p project) replace(name string, place *regexp.Regexp, by string) error {
	file := filepath.Join(string(p), filepath.FromSlash(name))
	before, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n := len(place.FindAllIndex(before, -1)); n != 1 {
		return fmt.Errorf("%w: %s has %q %d times", errOtherCode, name, place, n)
	}
	return os.WriteFile(file, place.ReplaceAll(before, []byte(by)), 0o644)
}

// next is a mark that was not compiled yet, by earlier runs neither.
func (b *bench) next() int {
	b.marks++
	return b.marks
}

// saved saves a new mark, and returns it with the time of the save.
func (b *bench) saved(p project) (mark string, at time.Time, err error) {
	number := b.next()
	at = time.Now()
	mark, err = p.mark(number)
	return mark, at, err
}

// comment saves a file with a comment at its end, by which nothing else changes.
func (p project) comment(name, text string) error {
	file := filepath.Join(string(p), filepath.FromSlash(name))
	before, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(before, "\n// "+text+"\n"...), 0o644)
}
