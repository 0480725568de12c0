package clients

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/codegen"
	"github.com/slipway-dev/slipway/internal/codegen/wire"
	"github.com/slipway-dev/slipway/internal/generate/edition"
	"github.com/slipway-dev/slipway/internal/generate/internal/apply"
	"github.com/slipway-dev/slipway/internal/report"
)

var updateFlag = flag.Bool("update", false, "write the golden files")

const (
	corpusFile = "testdata/apply/corpus.txtar"
	goldenFile = "testdata/apply/golden.txtar.gz" // what controller-gen writes: see test/differential/generate
)

// newCorpus is a module with the corpus, which has the dependencies of this one.
func newCorpus(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.Replace(text, []byte("module github.com/slipway-dev/slipway\n"), []byte("module example.com/corpus\n"), 1)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	corpus, err := os.ReadFile(corpusFile)
	if err != nil {
		t.Fatal(err)
	}
	unpack(t, dir, string(corpus))
	return dir
}

// TestApplyCorpus: the apply configurations of the corpus are the golden ones, which controller-gen writes, and no
// other program is asked for them.
func TestApplyCorpus(t *testing.T) {
	pass := newPass(t, newCorpus(t), ApplyGenerator())
	if err := runApply(t.Context(), pass, ApplyOptions{HeaderFile: "header.txt"}); err != nil {
		t.Fatal(err)
	}
	if got := messages(t, pass); len(got) > 0 {
		t.Fatal(got)
	}
	got := contents(t, pass)
	if *updateFlag {
		writeGolden(t, got)
	}
	if diff := cmp.Diff(readGolden(t), got); diff != "" {
		t.Error(diff)
	}
}

func readGolden(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, f := range txtar.Parse(text).Files {
		all[f.Name] = string(f.Data)
	}
	return all
}

func writeGolden(t *testing.T, files map[string]string) {
	t.Helper()
	var archive txtar.Archive
	for _, name := range slices.Sorted(maps.Keys(files)) {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(files[name])})
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(txtar.Format(&archive)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldenFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// lines are fields and types that are added to the package of the module applied.
type lines struct{ marker, doc, field, types, imports string }

// module is the module applied with the lines.
func (l lines) module() string {
	text := applied
	if l.marker != "" {
		text = strings.Replace(text, "// +genclient\n", "// +genclient\n// "+l.marker+"\n", 1)
	}
	text = strings.Replace(text, "\tSize int", "\t"+l.field+"\n\tSize int", 1)
	text = strings.Replace(text, "import (\n", "import (\n"+l.imports, 1) + l.types
	if l.doc != "" {
		text += "-- api/batch/v1/doc.go --\n// " + l.doc + "\n\npackage v1\n"
	}
	return text
}

// TestApplyUnsupported: what Kubernetes' own generator makes broken code of, or other code from run to run, is left to
// it. Everything else is not.
func TestApplyUnsupported(t *testing.T) {
	for name, test := range map[string]struct {
		lines
		left bool
	}{
		"nothing special":           {},
		"a generic field":           {lines: lines{field: "F Box[int] `json:\"-\"`", types: "\ntype Box[T any] struct{ V T }\n"}, left: true},
		"a generic type":            {lines: lines{types: "\ntype Box[T any] struct{ V T }\n"}},
		"names by case":             {lines: lines{field: "F, G Part `json:\"f\"`\nH PART `json:\"h\"`", types: "\ntype Part struct{ A int `json:\"a\"` }\n\ntype PART struct{ A int `json:\"a\"` }\n"}, left: true},
		"a group with a quote":      {lines: lines{doc: "+groupName=\"a\\\"b\""}, left: true},
		"a folder with a quote":     {lines: lines{doc: "+kubebuilder:ac:output:package=\"a\\\"b\""}, left: true},
		"the same group":            {lines: lines{doc: "+groupName=batch.example.com"}},
		"off by a tag":              {lines: lines{doc: "+k8s:applyconfiguration-gen=false"}, left: true},
		"a method that applies":     {lines: lines{marker: "+genclient:method=A,verb=apply,input=B"}, left: true},
		"a method with no verb":     {lines: lines{marker: "+genclient:method=A"}, left: true},
		"a method of a subresource": {lines: lines{marker: "+genclient:method=A,verb=get,subresource=scale"}},
		"an odd subresource":        {lines: lines{marker: "+genclient:method=A,verb=get,subresource=sCale"}, left: true},
		"an unknown tag":            {lines: lines{marker: "+genclient:other"}, left: true},
		"read only":                 {lines: lines{marker: "+genclient:readonly"}},
		"two limits":                {lines: lines{marker: "+genclient:readonly\n// +genclient:onlyVerbs=get"}, left: true},
		"a key that is a boolean":   {lines: lines{field: "// +kubebuilder:default={y: 1}\n\tF map[string]int `json:\"f\"`"}, left: true},
		"a backquote":               {lines: lines{field: "// +kubebuilder:default=\"`\"\n\tF string `json:\"f\"`"}, left: true},
		"a struct without a name":   {lines: lines{field: "// +kubebuilder:validation:Schemaless\n\tF struct{ A int } `json:\"f\"`"}, left: true},
		"a struct without fields":   {lines: lines{field: "// +kubebuilder:validation:Schemaless\n\tF struct{} `json:\"f\"`"}},
		"an interface with methods": {lines: lines{field: "// +kubebuilder:validation:Schemaless\n\tF interface{ M() } `json:\"f\"`"}, left: true},
		"a function":                {lines: lines{field: "// +kubebuilder:validation:Schemaless\n\tF func() `json:\"f\"`"}, left: true},
		"a length by name":          {lines: lines{field: "F [n]int `json:\"f\"`", types: "\nconst n = 3\n"}, left: true},
		"a length by number":        {lines: lines{field: "F [0x3]int `json:\"f\"`"}},
		"embedded with a name":      {lines: lines{field: "metav1.Duration `json:\"f\"`"}, left: true},
		"a list of nothing":         {lines: lines{field: "// +kubebuilder:validation:Schemaless\n\t// +kubebuilder:validation:Type=array\n\tF any `json:\"f\"`"}, left: true},
		"an alias of a kind":        {lines: lines{types: "\n// +kubebuilder:resource\ntype Task = Job\n"}, left: true},
		"a kind that is no struct":  {lines: lines{types: "\n// +kubebuilder:resource\ntype Task map[string]string\n"}, left: true},
		"a keyword":                 {lines: lines{types: "\n// +kubebuilder:resource\ntype Func struct{\n\tmetav1.ObjectMeta `json:\"metadata\"`\n}\n"}, left: true},
	} {
		t.Run(name, func(t *testing.T) {
			pass := newPass(t, newModule(t, test.module()), ApplyGenerator())
			var requests func() []wire.Request
			pass.Codegen, requests = program(t, wire.Answer{})
			if err := runApply(t.Context(), pass, ApplyOptions{}); err != nil {
				t.Fatal(err)
			}
			if left := len(requests()) > 0; left != test.left || left == (len(pass.Files()) > 0) {
				t.Errorf("left %v, %d files, findings %v", left, len(pass.Files()), messages(t, pass))
			}
		})
	}
}

// likes are packages of which both write the same.
func likes() map[string]lines {
	return map[string]lines{
		"nothing special":      {},
		"read only":            {marker: "+genclient:readonly"},
		"only status":          {marker: "+genclient:onlyVerbs=get,applyStatus"},
		"never applied":        {marker: "+genclient:skipVerbs=apply,applyStatus"},
		"applied by status":    {marker: "+genclient:skipVerbs=apply"},
		"subresources":         {marker: "+genclient:method=A,verb=get,subresource=scale\n// +genclient:method=B,verb=update,subresource=approval\n// +genclient:noStatus", field: "Status int `json:\"status\"`"},
		"no namespace":         {marker: "+genclient:nonNamespaced"},
		"only a tag":           {types: "\n// +genclient\ntype Task struct{\n\tmetav1.ObjectMeta `json:\"metadata\"`\n\tJob Job `json:\"job\"`\n}\n"},
		"an unexported type":   {field: "F part `json:\"f\"`", types: "\ntype part struct{ A []part `json:\"a\"` }\n"},
		"a named pointer":      {field: "F Ptr `json:\"f\"`\n\tG []Ptr `json:\"g\"`", types: "\ntype Ptr *Part\n\ntype Part struct{ A int `json:\"a\"` }\n"},
		"lists by a name":      {field: "F Parts `json:\"f\"`", types: "\ntype Parts []Part\n\ntype Part struct{ A int `json:\"a\"` }\n"},
		"pointers to pointers": {field: "F **Part `json:\"f\"`\n\tG *[]**Part `json:\"g\"`\n\tH **[]Part `json:\"h\"`", types: "\ntype Part struct{ A int `json:\"a\"` }\n"},
		"an alias with a doc":  {field: "F Part `json:\"f\"`", types: "\n// Another doc.\ntype Alias = Part\ntype Part struct{ A int `json:\"a\"` }\n"},
		"two docs":             {field: "F Part `json:\"f\"`", types: "\n// Detached.\n\n// Another doc.\ntype Alias = Part\n\n// Detached from it.\n\n// Its own.\ntype Part struct{ A int `json:\"a\"` }\n"},
		"ends of lines":        {field: "F Part `json:\"f\"`", types: "\nvar x = 1 // a variable\ntype Part struct{ // a comment\n\tA int `json:\"a\"` // of A\n\tB int `json:\"b\"` /* of B */\n\n\tC int `json:\"c\"`\n} // the end\ntype Next struct { A int }\n"},
		"marked in a doc.go":   {doc: "+groupName=batch.example.com\n// Other text."},
		"a float":              {field: "F float32 `json:\"f\"`\n\tG rune `json:\"g\"`\n\tH int8 `json:\"h\"`\n\tI uint8 `json:\"i\"`\n\tJ []uint8 `json:\"j\"`\n\tK [4]byte `json:\"k\"`"},
		"odd defaults":         {field: "// +kubebuilder:default=1234567890123456789\n\tF int64 `json:\"f\"`\n\t// +kubebuilder:default=1e30\n\tG float64 `json:\"g\"`\n\t// +kubebuilder:default=\"yes\"\n\tH string `json:\"h\"`\n\t// +kubebuilder:default=\"a very long text that is folded by those who write it, since it is longer than eighty characters by far\"\n\tI string `json:\"i\"`\n\t// +kubebuilder:default={x: {z: 1.0, a: \"null\"}, b: {\"#\", \"- x\", \"\", \"off\", \"12\", \"~\", \"1_0\", \"2001-01-01\", \"0x1F\", \"=\", \"a: b\"}}\n\tJ map[string]int `json:\"j\"`\n\t// +kubebuilder:default=null\n\tK *int `json:\"k\"`\n\t// +kubebuilder:default=\"a\\tb\\r\\n c\"\n\tL string `json:\"l\"`"},
		"a default of a type":  {field: "F Part `json:\"f\"`\n\t// +listType=set\n\tG Texts `json:\"g\"`", types: "\n// +kubebuilder:default=x\ntype Text string\n\n// +listType=atomic\ntype Texts []Text\n\n// +structType=granular\ntype Part struct{ A Text `json:\"a\"` }\n"},
		"imports without dots": {field: "F time.Duration `json:\"f\"`\n\t// +kubebuilder:validation:Schemaless\n\tG net.IP `json:\"g\"`", imports: "\t\"net\"\n\t\"time\"\n"},
		"embedded by pointer":  {field: "*Part `json:\",inline\"`\n\t*Named `json:\"named\"`", types: "\ntype Part struct{ A int `json:\"a\"` }\n\ntype Named struct{ B int `json:\"b\"` }\n"},
	}
}

// TestApplyMatchesGenerator compares what is written for small packages with what Kubernetes' own generator writes.
func TestApplyMatchesGenerator(t *testing.T) {
	matches(t, "", apply.Newest())
}

// matches compares what is written for small packages with what Kubernetes' own generator of a version writes.
func matches(t *testing.T, version string, form apply.Form) {
	t.Helper()
	finder := realProgram(t, version)
	archive, all := "", likes()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		archive += strings.ReplaceAll(all[name].module(), "-- api/", fmt.Sprintf("-- %s/", place(i)))
	}
	dir := newModule(t, archive)
	ours := newPass(t, dir, ApplyGenerator())
	newest := edition.For(edition.Newest).Apply
	native := &applier{pass: ours, edition: newest, form: form, formed: true, jobs: newJobs(ours)}
	if err := native.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	theirs := newPass(t, dir, ApplyGenerator())
	theirs.Codegen = finder
	a := &applier{pass: theirs, edition: newest, jobs: newJobs(theirs)}
	for _, root := range theirs.Roots {
		if err := a.leave(root, "batch.example.com"); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.jobs.do(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, want := contents(t, ours), contents(t, theirs)
	for i, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			of := func(files map[string]string) map[string]string {
				some := maps.Clone(files)
				maps.DeleteFunc(some, func(path, _ string) bool { return !strings.HasPrefix(path, place(i)+"/") })
				return some
			}
			if len(of(want)) == 0 {
				t.Fatal(messages(t, theirs))
			}
			if diff := cmp.Diff(of(want), of(got)); diff != "" {
				t.Errorf("findings %v: %s", messages(t, ours), diff)
			}
		})
	}
}

// TestApplyForms compares with the generators of older versions.
func TestApplyForms(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-real")
	}
	for _, version := range []string{"v0.33.3", "v0.34.1", "v0.36.0"} {
		t.Run(version, func(t *testing.T) {
			form, ok := apply.FormOf(version)
			if !ok {
				t.Fatal("no form")
			}
			matches(t, version, form)
		})
	}
}

// place is the folder of a package's group.
func place(i int) string { return fmt.Sprintf("api%02d", i) }

// realProgram is the program with Kubernetes' own generators of a version; "" is the newest.
func realProgram(t *testing.T, version string) *codegen.Finder {
	t.Helper()
	source, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	getenv := func(key string) string {
		if key == "SLIPWAY_SOURCE" { // a test that is compiled with -trimpath does not know it
			return source
		}
		return os.Getenv(key)
	}
	program, err := codegen.NewFinder(getenv, report.Discard).Program(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"SLIPWAY_CODEGEN": program, "SLIPWAY_CACHE": cache}
	return codegen.NewFinder(func(key string) string { return env[key] }, report.Discard)
}
