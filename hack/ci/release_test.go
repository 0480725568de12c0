package ci_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/rounds"
)

// A publisher plays release.yml for a tag: each job has a folder and a folder for temporary files of its own, and gets
// from earlier ones only what they uploaded.
type publisher struct {
	*runner
	tag, repository string
	bin             string // of a gh, which writes down in "asked" what it is asked and which notes it gets
	uploads         string // has a folder for each artifact
	stolen          string // where strange code writes the private key
	alone           bool   // the step with the private key finds no program but those that it names by their path
	values          map[string]string
}

// newPublisher has a pair of keys and a repository with tags, the first of which is pushed.
func newPublisher(t *testing.T, changelog string, tags ...string) *publisher {
	t.Helper()
	p := &publisher{runner: newRunner(t), tag: tags[0], repository: playedRepository(t, changelog, tags), uploads: t.TempDir(), stolen: filepath.Join(t.TempDir(), "stolen")}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.values = map[string]string{
		"github.ref_name": p.tag, "github.token": "secret-token", "github.repository": "o/r", "github.run_id": "7",
		"vars.SLIPWAY_PUBLIC_KEY":     base64.StdEncoding.EncodeToString(public),
		"secrets.SLIPWAY_RELEASE_KEY": base64.StdEncoding.EncodeToString(private.Seed()),
	}
	p.bin = playedGH(t, p.uploads)
	return p
}

// run runs the jobs one after the other, until one fails.
func (p *publisher) run() (string, error) {
	var all strings.Builder
	for _, id := range []string{"build", "sign", "publish"} {
		out, err := p.job(id)
		all.WriteString(out)
		if err != nil {
			return all.String(), err
		}
	}
	return all.String(), nil
}

// job runs the steps of a job until one fails.
func (p *publisher) job(id string) (string, error) {
	p.t.Helper()
	var all strings.Builder
	for _, play := range p.steps(id) {
		out, err := play()
		all.WriteString(out)
		if err != nil {
			return all.String(), err
		}
	}
	return all.String(), nil
}

// steps prepares a job, and returns its steps.
func (p *publisher) steps(id string) (all []func() (string, error)) {
	p.t.Helper()
	dir, temp := p.t.TempDir(), p.t.TempDir()
	steps := workflows(p.t)["release.yml"].Jobs[id].Steps
	if slices.ContainsFunc(steps, func(s step) bool { return strings.HasPrefix(s.Uses, "actions/checkout@") }) {
		git(p.t.Context(), p.t, dir, "clone", "--quiet", p.repository, ".")
	}
	values := maps.Clone(p.values)
	values["runner.temp"], values["runner.tool_cache"] = temp, temp
	for _, s := range steps {
		switch {
		case strings.HasPrefix(s.Uses, "actions/upload-artifact@"):
			all = append(all, func() (string, error) { return "", p.upload(dir, s, values) })
		case s.Run != "":
			all = append(all, func() (string, error) { return p.script(dir, s, values) })
		}
	}
	return all
}

// script runs the script of a step.
func (p *publisher) script(dir string, s step, values map[string]string) (string, error) {
	path := p.bin + string(os.PathListSeparator) + os.Getenv("PATH")
	env := []string{"RUNNER_TEMP=" + values["runner.temp"]}
	for name, text := range s.Env {
		env = append(env, name+"="+p.evaluate(text, values))
		if p.alone && strings.Contains(text, "secrets.") {
			path = p.t.TempDir()
		}
	}
	return p.bash("cd '"+dir+"'\n"+s.Run, append(env, "PATH="+path)...)
}

// upload does what the action does: a single file is the artifact, and other paths keep their folders.
func (p *publisher) upload(dir string, s step, values map[string]string) error {
	into := filepath.Join(p.uploads, s.With["name"])
	paths := strings.Fields(p.evaluate(s.With["path"], values))
	for _, path := range paths {
		from, to := filepath.Join(dir, path), filepath.Join(into, path)
		if len(paths) == 1 {
			from, to = path, filepath.Join(into, filepath.Base(path))
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if out, err := p.bash("cp -r '" + from + "' '" + to + "'"); err != nil {
			return errors.New(out)
		}
	}
	return nil
}

// asked is what the jobs asked of gh.
func (p *publisher) asked() string {
	text, err := os.ReadFile(filepath.Join(p.bin, "asked"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(text)
}

// news is a changelog of v0.1.0.
const news = "# Changelog\n\n## 0.1.0 (today)\n\nNews.\n\n## 0.0.9\n\nOld.\n"

// TestRelease runs the jobs of release.yml for a tag, with a Makefile that makes a small release and a small program
// that signs it.
func TestRelease(t *testing.T) {
	signers := t.TempDir()
	for name, c := range map[string]struct {
		tags      []string
		changelog string
		key       string // the variable; empty: the one that fits the private key
		want      string // of the error; else the kind of release
	}{
		"published":            {[]string{"v0.1.0", "cluster/v0.1.0", "operator/v0.1.0"}, news, "", "--latest"},
		"before a release":     {[]string{"v0.1.0-rc.1", "cluster/v0.1.0-rc.1", "operator/v0.1.0-rc.1"}, "## 0.1.0-rc.1\n\nNews.\n", "", "--prerelease"},
		"no version":           {[]string{"v0.1.0;$(touch${IFS}ran)"}, "", "", "the tag is not a version"},
		"nested tag missing":   {[]string{"v0.1.0", "cluster/v0.1.0"}, "## 0.1.0\n\nNews.\n", "", "operator/v0.1.0 is not at this commit"},
		"no word of changelog": {[]string{"v0.1.0", "cluster/v0.1.0", "operator/v0.1.0"}, "## 0.1.01\n\nNews.\n", "", `no section "## 0.1.0"`},
		"no key":               {[]string{"v0.1.0", "cluster/v0.1.0", "operator/v0.1.0"}, "## 0.1.0\n\nNews.\n", "$(touch ran)", "SLIPWAY_PUBLIC_KEY is not the base64"},
		"another key":          {[]string{"v0.1.0", "cluster/v0.1.0", "operator/v0.1.0"}, "## 0.1.0\n\nNews.\n", strings.Repeat("A", 43) + "=", "not signed with SLIPWAY_PUBLIC_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(t, c.changelog, c.tags...)
			p.alone = true
			p.keepSigners(signers)
			if c.key != "" {
				p.values["vars.SLIPWAY_PUBLIC_KEY"] = c.key
			}
			out, err := p.run()
			asked := p.asked()
			if !strings.HasPrefix(c.want, "--") {
				if err == nil || !strings.Contains(out, c.want) || strings.Contains(asked, "release create") {
					t.Errorf("%v\n%s\n%s", err, out, asked)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range []string{"release create " + c.tags[0] + " " + c.want + " --verify-tag", " SHA256SUMS SHA256SUMS.sig slipway.tar.gz\n", "News."} {
				if !strings.Contains(asked, want) {
					t.Errorf("gh was not asked for %s:\n%s", want, asked)
				}
			}
			if strings.Contains(asked, "Old.") {
				t.Errorf("the notes have those of another version:\n%s", asked)
			}
		})
	}
}

// TestOneStepHasTheKey: no other text of the workflows has the private key or all secrets, and TestRelease runs the one
// that has it where no other program is found than the one that signs.
func TestOneStepHasTheKey(t *testing.T) {
	secrets := 0
	for name, w := range workflows(t) {
		secrets += strings.Count(readAll(t, filepath.Join(root, ".github/workflows", name)), "secrets")
		for id, j := range w.Jobs {
			for _, s := range j.Steps {
				for variable, text := range s.Env {
					if strings.Contains(text, "secrets") && (name != "release.yml" || id != "sign" || text != "${{ secrets.SLIPWAY_RELEASE_KEY }}") {
						t.Errorf("%s: %s has a secret as %s", name, id, variable)
					}
				}
			}
		}
	}
	if secrets != 1 {
		t.Errorf("the workflows speak of secrets %d times, not once in the step that signs", secrets)
	}
}

// TestStrangeArtifact: what the first job leaves besides a release gets neither the private key nor the token, and
// nothing is signed or published. The steps that sign are run even after the one that refuses, which alone would hide
// that they run something.
func TestStrangeArtifact(t *testing.T) {
	rounds.Thorough(t)
	signers := t.TempDir()
	const steal = "package main\n\nimport \"os\"\n\nfunc init() { _ = os.WriteFile(%q, []byte(os.Getenv(\"SLIPWAY_RELEASE_KEY\")), 0o600) }\n"
	for name, c := range map[string]struct{ path, text, link string }{
		"make":                  {"GNUmakefile", "%:\n\techo \"$$SLIPWAY_RELEASE_KEY\" >'STOLEN'\n", ""},
		"source":                {"release/zz.go", strings.Replace(steal, "%q", `"STOLEN"`, 1), ""},
		"program":               {"signer", "#!/bin/sh\necho \"$SLIPWAY_RELEASE_KEY\" >'STOLEN'\n", ""},
		"folder of the release": {"dist/v0.1.0/make/GNUmakefile", "", ""},
		"other version":         {"dist/v0.0.9/slipway.tar.gz", "", ""},
		"link in the release":   {"dist/v0.1.0/slipway.rb", "", "/proc/self/environ"},
		"link as notes":         {"notes.md", "", "/proc/self/environ"},
		"link as signature":     {"dist/v0.1.0/SHA256SUMS.sig", "", "STOLEN"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(t, news, "v0.1.0", "cluster/v0.1.0", "operator/v0.1.0")
			p.keepSigners(signers)
			if out, err := p.job("build"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			p.leave(c.path, c.text, c.link)
			for _, id := range []string{"sign", "publish"} {
				out, err := p.job(id)
				named := strings.Contains(out, "./"+c.path+"'") || strings.Contains(out, "./"+filepath.Dir(c.path)+"'")
				if err == nil || !strings.Contains(out, "the first job left what is not of a release: ") || !named {
					t.Errorf("%s: %v\n%s", id, err, out)
				}
			}
			for _, play := range p.steps("sign") {
				_, _ = play()
			}
			stolen, err := os.ReadFile(p.stolen)
			if err == nil && strings.Contains(string(stolen), p.values["secrets.SLIPWAY_RELEASE_KEY"]) {
				t.Error("the private key is stolen")
			}
			if asked := p.asked(); strings.Contains(asked, "release create") {
				t.Errorf("it is published:\n%s", asked)
			}
		})
	}
}

// keepSigners has the program that signs compiled once for the same sources: the jobs find a go command that keeps it
// in a folder.
func (p *publisher) keepSigners(folder string) {
	p.t.Helper()
	compiler, err := exec.LookPath("go")
	script := fmt.Sprintf(keptSigner, folder, compiler)
	if err := errors.Join(err, os.WriteFile(filepath.Join(p.bin, "go"), []byte(script), 0o700)); err != nil {
		p.t.Fatal(err)
	}
}

const keptSigner = `#!/bin/sh -e
kept='%s'/$(cat release/* | sha256sum | cut -c1-64)
test -e $kept || '%s' build -C release -o $kept .
test "$*" = "build -C release -o $5 ." && cp $kept "$5"
`

// leave puts a file or a link into the artifact of the first job.
func (p *publisher) leave(path, text, link string) {
	p.t.Helper()
	file := filepath.Join(p.uploads, "release", path)
	named := func(text string) string { return strings.ReplaceAll(text, "STOLEN", p.stolen) }
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if link == "" {
		err = errors.Join(err, os.WriteFile(file, []byte(named(text)), 0o700))
	} else {
		_ = os.Remove(file)
		err = errors.Join(err, os.Symlink(named(link), file))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestOnlySignedFilesArePublished: a file that is added after the signature is not among those that gh gets.
func TestOnlySignedFilesArePublished(t *testing.T) {
	p := newPublisher(t, news, "v0.1.0", "cluster/v0.1.0", "operator/v0.1.0")
	for _, id := range []string{"build", "sign"} {
		if out, err := p.job(id); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	p.leave("dist/v0.1.0/slipway.deb", "late", "")
	if out, err := p.job("publish"); err != nil || strings.Contains(p.asked(), "slipway.deb") || !strings.Contains(p.asked(), "slipway.tar.gz") {
		t.Errorf("%v\n%s\n%s", err, out, p.asked())
	}
}

// TestTamperedReleaseIsNotPublished: nor is one with other bytes than those that were signed.
func TestTamperedReleaseIsNotPublished(t *testing.T) {
	p := newPublisher(t, news, "v0.1.0", "cluster/v0.1.0", "operator/v0.1.0")
	for _, id := range []string{"build", "sign"} {
		if out, err := p.job(id); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	p.leave("dist/v0.1.0/slipway.tar.gz", "late", "")
	if out, err := p.job("publish"); err == nil || !strings.Contains(out, "slipway.tar.gz: FAILED") || strings.Contains(p.asked(), "release create") {
		t.Errorf("%v\n%s\n%s", err, out, p.asked())
	}
}

// playedRepository is a repository with a changelog and tags, whose Makefile refuses a tree with changes, and the
// private key where only the public one is needed. Its program that signs reads the same flags as the real one.
func playedRepository(t *testing.T, changelog string, tags []string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"CHANGELOG.md": changelog,
		".gitignore":   "/dist/\n",
		"Makefile": ".PHONY: release\nrelease:\n\ttest -z \"$$SLIPWAY_RELEASE_KEY\" && test -n \"$(PUBLIC_KEY)\" && test -z \"$$(git status --porcelain)\"\n" +
			"\tmkdir -p dist/$(VERSION) && echo $(VERSION) > dist/$(VERSION)/slipway.tar.gz && cd dist/$(VERSION) && sha256sum slipway.tar.gz > SHA256SUMS\n",
		"release/go.mod":  "module release\n\ngo 1.26.0\n",
		"release/main.go": playedSigner,
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	git(t.Context(), t, dir, "init", "--quiet")
	git(t.Context(), t, dir, "add", ".")
	git(t.Context(), t, dir, "commit", "--quiet", "-m", "a release")
	for _, tag := range tags {
		git(t.Context(), t, dir, "tag", tag)
	}
	return dir
}

// playedSigner signs whatever is there: it is the workflow that is tested.
const playedSigner = `package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"flag"
	"os"
	"path/filepath"
)

func main() {
	sign := flag.Bool("sign", false, "")
	dir, version := flag.String("dir", "", ""), flag.String("version", "", "")
	flag.Parse()
	dist := filepath.Join(*dir, "dist", *version)
	seed, err := base64.StdEncoding.DecodeString(os.Getenv("SLIPWAY_RELEASE_KEY"))
	text, err2 := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err := errors.Join(err, err2); err != nil || !*sign {
		panic(err)
	}
	signature := base64.StdEncoding.EncodeToString(ed25519.Sign(ed25519.NewKeyFromSeed(seed), text))
	if err := os.WriteFile(filepath.Join(dist, "SHA256SUMS.sig"), []byte(signature+"\n"), 0o600); err != nil {
		panic(err)
	}
}
`

// playedGH is a folder with a gh that unpacks what was uploaded, links as links, and writes down what it was asked and
// which notes it got.
func playedGH(t *testing.T, uploads string) string {
	t.Helper()
	bin := t.TempDir()
	script := `#!/usr/bin/env bash
set -euo pipefail
echo "$*" >>'` + bin + `/asked'
case "$1 $2" in
  "run download") mkdir -p "$7" && cp -a '` + uploads + `'/"$5/." "$7" ;;
  "release create")
    while [ "$1" != --notes-file ]; do shift; done
    cat "$2" >>'` + bin + `/asked' ;;
  *) exit 2 ;;
esac
`
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return bin
}
