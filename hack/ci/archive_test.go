package ci_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// stem is the name of the only folder in an archive of the release for this platform.
func stem() string { return strings.TrimSuffix(archive(), ".tar.gz") }

// An entry is one of an archive: a file in its folder, unless something else is said.
type entry struct {
	name, text string
	header     tar.Header // type, link, mode, owner
}

// played is a command that prints the version of the release.
const played = "#!/bin/sh\necho slipway " + version + ", played\n"

// tarOf is an archive with these entries.
func tarOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, e := range entries {
		h := e.header
		h.Name, h.Size, h.Mode = e.name, int64(len(e.text)), h.Mode|0o755
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// of is an entry of a kind that refers to something.
func of(kind byte, name, link string) entry {
	return entry{name: stem() + "/" + name, header: tar.Header{Typeflag: kind, Linkname: link}}
}

// file is an entry that a release may have.
func file(name, text string) entry { return entry{name: stem() + "/" + name, text: text} }

// claiming is an archive whose header says that a file of that size follows, and does not have it.
func claiming(t *testing.T, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	if err := tar.NewWriter(zipped).WriteHeader(&tar.Header{Name: stem() + "/slipway", Mode: 0o755, Size: size}); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// many are more files than a release may have.
func many() (entries []entry) {
	for i := range 1001 {
		entries = append(entries, file(fmt.Sprint("f", i), ""))
	}
	return entries
}

// hostile are archives that are refused, and the reasons, unless tars read them differently. victim is a file that none
// of them may change or be run from.
func hostile(t *testing.T, victim string) map[string]struct {
	archive []byte
	want    string
} {
	t.Helper()
	const kind, outside, unlike = "neither a file nor a folder", "files outside its folder", "not as it is listed"
	command := file("slipway", played)
	return map[string]struct {
		archive []byte
		want    string
	}{
		"a link in place of the key":     {tarOf(t, command, of(tar.TypeSymlink, ".key", victim)), kind},
		"a link in place of the command": {tarOf(t, of(tar.TypeSymlink, "slipway", victim)), kind},
		"a hard link":                    {tarOf(t, of(tar.TypeLink, "slipway", victim)), kind},
		"a hard link inside":             {tarOf(t, command, of(tar.TypeLink, "other", stem()+"/slipway")), kind},
		"a folder that is a link":        {tarOf(t, of(tar.TypeSymlink, "d", filepath.Dir(victim)), file("d/"+filepath.Base(victim), "x"), command), kind},
		"a pipe":                         {tarOf(t, of(tar.TypeFifo, "slipway", "")), kind},
		"a device":                       {tarOf(t, of(tar.TypeChar, "slipway", "")), kind},
		"a file outside":                 {tarOf(t, command, entry{name: "other/slipway", text: "x"}), outside},
		"a file of the parent":           {tarOf(t, command, file("../../x", "x")), outside},
		"an absolute path":               {tarOf(t, command, entry{name: victim, text: "x"}), outside},
		"a hidden file":                  {tarOf(t, command, file(".key/x", "x")), outside},
		"a name of two lines":            {tarOf(t, command, file("x\n-rwxr-xr-x 0/0 1 2020-01-01 00:00:00 "+stem()+"/y", "x")), "the archive has"},
		"a name that looks like a line":  {tarOf(t, command, file("x 1 2020-01-01 00:00 "+stem()+"/y", "x")), outside},
		"a link that looks like a line":  {tarOf(t, command, of(tar.TypeLink, "x", "1 2020-01-01 00:00 "+stem()+"/y")), kind},
		"a file twice":                   {tarOf(t, command, command), unlike},
		"a folder that is a file":        {tarOf(t, file("d", "x"), file("d/x", "x"), command), unlike},
		"no command":                     {tarOf(t, file("LICENSE", "x")), "has no slipway"},
		"a folder for a command":         {tarOf(t, file("slipway/x", played)), "has no slipway"},
		"an empty command":               {tarOf(t, file("slipway", "")), "has no slipway"},
		"nothing":                        {tarOf(t), "has no slipway"},
		"many entries":                   {tarOf(t, many()...), "more than 1000 entries"},
		"long names":                     {tarOf(t, command, file(strings.Repeat("d/", 400_000)+"x", "x")), "the archive"},
		"zeros":                          {tarOf(t, command, file("zeros", string(make([]byte, 64<<20)))), "unpacks to more than"},
		"a size that is claimed":         {claiming(t, 5<<30), "unpacks to more than"},
		"a size of many digits":          {claiming(t, 1<<40), "the archive"},
		"half an archive":                {tarOf(t, command)[:60], "cannot be read"},
		"no archive":                     {[]byte("other"), "cannot be read"},
	}
}

// tars are the programs named tar that can be had here: of GNU, of macOS, of Alpine. Each is a folder for PATH, or
// empty.
func tars(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"tar": ""}
	for name, command := range map[string]string{"bsdtar": `exec bsdtar "$@"`, "busybox": `exec busybox tar "$@"`} {
		if _, err := exec.LookPath(name); err == nil {
			all[name] = programs(t, map[string]string{"tar": command})
		}
	}
	return all
}

// first puts a folder before the others of the runner's PATH.
func (r *runner) first(dir string) {
	for i, variable := range r.env {
		if rest, ok := strings.CutPrefix(variable, "PATH="); ok && dir != "" {
			r.env[i] = "PATH=" + dir + string(filepath.ListSeparator) + rest
		}
	}
}

// TestHostileArchives: nothing of one comes to be, and it is one clear error; with each tar.
func TestHostileArchives(t *testing.T) {
	for program, dir := range tars(t) {
		victim := filepath.Join(t.TempDir(), "victim")
		text := "#!/bin/sh\n: >\"$HOME/ran\"\n" + played
		if err := os.WriteFile(victim, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, c := range hostile(t, victim) {
			t.Run(program+"/"+name, func(t *testing.T) {
				t.Parallel()
				r, h := newRunner(t), newHost(t)
				r.first(dir)
				h.put(t, stem(), c.archive)
				r.refuses(h, c.want)
				if got, err := os.ReadFile(victim); err != nil || string(got) != text {
					t.Errorf("the victim has %q: %v", got, err)
				}
				if _, err := os.Stat(filepath.Join(r.home, "ran")); err == nil {
					t.Error("the victim was run")
				}
			})
		}
	}
}

// refuses wants one error that says all, and nothing to be left of what was downloaded.
func (r *runner) refuses(h *host, want string) {
	r.t.Helper()
	out, err := r.play(map[string]string{"version": version, "mirror": h.URL, "public-key": h.key, "programs": "none"}, "main")
	_, text, _ := strings.Cut(out, "error: ")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if err == nil || len(lines) != 3 || !strings.HasPrefix(lines[0], "the archive") || !strings.Contains(lines[0], want) ||
		!strings.HasPrefix(lines[1], "  where: "+h.URL+"/"+version+"/") || !strings.HasPrefix(lines[2], "  next: ") {
		r.t.Errorf("%v\n%.2000s", err, out)
	}
	left, err := os.ReadDir(filepath.Join(r.home, ".cache/slipway-ci"))
	if err != nil || len(left) != 0 {
		r.t.Errorf("the folder has %v: %v", left, err)
	}
}

// TestArchiveOwnsNothing: files get the user's own marks, whatever those in the archive are, and folders are made.
func TestArchiveOwnsNothing(t *testing.T) {
	marks := tar.Header{Mode: 0o7777, Uid: 12345, Gid: 12345, Uname: "root", Gname: "nogroup"}
	folder := of(tar.TypeDir, "share/", "")
	for program, dir := range tars(t) {
		t.Run(program, func(t *testing.T) {
			r, h := newRunner(t), newHost(t)
			r.first(dir)
			h.put(t, stem(), tarOf(t, of(tar.TypeDir, "", ""), entry{stem() + "/slipway", played, marks}, folder, file("share/doc/README.md", "read")))
			r.succeed(r.install(h, "here"))
			bin := filepath.Join(r.home, "here/bin")
			info, err := os.Stat(filepath.Join(bin, "slipway"))
			if err != nil || info.Mode() != 0o755 {
				t.Errorf("%v: %v", info.Mode(), err)
			}
			if got := r.succeed("find '" + bin + "' ! -user $(id -u)"); got != "" {
				t.Errorf("others own %s", got)
			}
			if text, err := os.ReadFile(filepath.Join(bin, "share/doc/README.md")); err != nil || string(text) != "read" {
				t.Errorf("%q: %v", text, err)
			}
		})
	}
}

// TestCacheWithLinks: a folder that an earlier job left is not written through either.
func TestCacheWithLinks(t *testing.T) {
	r, h := newRunner(t), newHost(t)
	script := r.install(h, "here")
	r.succeed(script + "\n: >victim; ln -sf ../../victim here/bin/.key; ln -sf ../victim here/env\n" + script)
	if text, err := os.ReadFile(filepath.Join(r.home, "victim")); err != nil || len(text) != 0 {
		t.Errorf("the file has %q: %v", text, err)
	}
}

// TestZip: the archives of Windows are read as strictly.
func TestZip(t *testing.T) {
	if _, err := exec.LookPath("unzip"); err != nil {
		t.Skip("there is no unzip")
	}
	stem := "slipway_" + version + "_windows_" + runtime.GOARCH
	file := func(name string) map[string]fs.FileMode { return map[string]fs.FileMode{stem + "/" + name: 0o755} }
	for name, c := range map[string]struct {
		entries map[string]fs.FileMode
		want    string // empty: it is installed
	}{
		"release":        {file("slipway.exe"), ""},
		"a link":         {map[string]fs.FileMode{stem + "/slipway.exe": fs.ModeSymlink | 0o777}, "neither a file nor a folder"},
		"a file outside": {map[string]fs.FileMode{"slipway.exe": 0o755}, "files outside its folder"},
		"a parent":       {file("../../slipway.exe"), "files outside its folder"},
		"no command":     {file("README.md"), "has no slipway.exe"},
	} {
		t.Run(name, func(t *testing.T) {
			r, h := newRunner(t), newHost(t)
			r.first(programs(t, map[string]string{"uname": `[ "$1" = -m ] && exec /bin/uname -m; echo MINGW64_NT-10.0`}))
			h.put(t, stem, zipOf(t, c.entries))
			h.files[stem+".zip"] = h.files[stem+".tar.gz"]
			h.sign(t, bytes.ReplaceAll(h.files["SHA256SUMS"], []byte(".tar.gz"), []byte(".zip")))
			if c.want != "" {
				r.refuses(h, c.want)
			} else if out := r.succeed(r.install(h, "here")); !strings.Contains(out, "slipway "+version+", played") {
				t.Error(out)
			}
		})
	}
}

// zipOf is an archive whose files are all the command.
func zipOf(t *testing.T, entries map[string]fs.FileMode) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, mode := range entries {
		h := zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(mode)
		f, err := w.CreateHeader(&h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(played)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
