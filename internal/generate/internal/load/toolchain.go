package load

import (
	"bytes"
	"cmp"
	"fmt"
	"go/version"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
)

// switched is the folder of the Go distribution that the go command in goroot would hand over to: a later one that the
// module or the workspace asks for, if it is in the module cache.
func (e *environment) switched(goroot string) string {
	wanted := e.wantedToolchain(goroot)
	if wanted == "" || wanted == e.versionOf(goroot) {
		return goroot
	}
	dir := filepath.Join(e.modcache(), "golang.org", fmt.Sprintf("toolchain@v0.0.1-%s.%s-%s", wanted, runtime.GOOS, runtime.GOARCH))
	if e.isDir(filepath.Join(dir, "src", "fmt")) {
		return dir
	}
	return goroot
}

// wantedToolchain is the version of Go that GOTOOLCHAIN, go.work and go.mod lead to, like go1.26.1; "" if that is the
// one in goroot.
func (e *environment) wantedToolchain(goroot string) string {
	setting := cmp.Or(e.get("GOTOOLCHAIN"), readVariables(e.inputs, filepath.Join(goroot, "go.env"))["GOTOOLCHAIN"], "auto")
	least, mode, both := strings.Cut(setting, "+")
	switch {
	case least == "auto" || least == "path":
		least = ""
	case !both && least == "local":
		return ""
	case !both || mode != "auto" && mode != "path":
		return least
	case least == "local":
		least = ""
	}
	wanted, own := later(least, e.askedFor()), e.versionOf(goroot)
	if !version.IsValid(own) || version.Compare(wanted, own) <= 0 {
		return ""
	}
	return wanted
}

// askedFor is the version of Go that the workspace, or else the module, asks for.
func (e *environment) askedFor() string {
	if name := e.workFileFor(e.dir); name != "" {
		file, err := parseFile(e, name, modfile.ParseWork)
		if err != nil {
			return ""
		}
		return askedBy(file.Go, file.Toolchain)
	}
	file, err := parseFile(e, filepath.Join(e.findUp(e.dir, "go.mod"), "go.mod"), modfile.Parse)
	if err != nil {
		return ""
	}
	return askedBy(file.Go, file.Toolchain)
}

// parseFile reads a file of the go command's. Loading reports what is wrong with it.
func parseFile[F any](e *environment, name string, parse func(string, []byte, modfile.VersionFixer) (F, error)) (F, error) {
	data, err := e.inputs.ReadFile(name)
	if err != nil {
		var none F
		return none, err
	}
	return parse(name, data, nil)
}

func askedBy(directive *modfile.Go, toolchain *modfile.Toolchain) string {
	asked := ""
	if directive != nil {
		asked = "go" + directive.Version
	}
	if toolchain != nil {
		asked = later(asked, toolchain.Name)
	}
	return asked
}

func later(a, b string) string {
	if version.Compare(a, b) > 0 {
		return a
	}
	return b
}

// versionOf is the version of the Go distribution in a folder, like go1.26.1; "" if it says none.
func (e *environment) versionOf(goroot string) string {
	data, _ := e.inputs.ReadFile(filepath.Join(goroot, "VERSION"))
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return strings.TrimSpace(string(line))
}

// findRelease is the release of the go command, like go1.26; "" if it is not known.
func (e *environment) findRelease() string {
	goroot := e.goroot()
	return version.Lang(later(e.versionOf(goroot), e.wantedToolchain(goroot)))
}

// releaseTags are the build tags of the releases up to the one of the go command, or those of this program if that one
// is not known.
func (e *environment) releaseTags(known []string) []string {
	minor, err := strconv.Atoi(strings.TrimPrefix(e.release(), "go1."))
	const most = 1000
	if err != nil || minor < 1 || minor > most {
		return known
	}
	tags := make([]string, minor)
	for i := range tags {
		tags[i] = fmt.Sprintf("go1.%d", i+1)
	}
	return tags
}
