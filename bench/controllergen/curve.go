package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/bench/build"
	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// size is that of a made-up project: how many kinds its API has, and how many packages that have nothing to do with the
// API are beside it.
type size struct{ kinds, packages int }

// sizes are the points of the curve: more kinds beside the same rest, and more rest beside the same kinds.
func sizes() []size {
	const some, rest = 50, 400
	return []size{{1, rest}, {10, rest}, {some, rest}, {100, rest}, {200, rest}, {some, 0}, {some, rest / 4}, {some, 2 * rest}}
}

// curve measures how the cost grows: each point is a contest of its own.
func curve(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	return b.points(ctx, sizes(), contest{name: "curve, one field changed", prepare: anotherKindField})
}

// fromNothing is the curve of runs that have everything to write and look at the API alone.
func fromNothing(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	return b.points(ctx, sizes(), contest{name: "curve, all to write, paths=./api/...", prepare: removeGenerated, paths: "./api/..."})
}

func (b *bench) points(ctx context.Context, sizes []size, c contest) ([]sidebyside.Figure, error) {
	var all []sidebyside.Figure
	for _, s := range sizes {
		point := c
		point.name = c.name + ", " + s.String()
		point.project = filepath.Join(b.dir, fmt.Sprintf("curve-%d-%d", s.kinds, s.packages))
		if err := s.write(ctx, point.project); err != nil {
			return all, err
		}
		figures, err := b.hold(ctx, point)
		all = append(all, figures...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

func (s size) String() string {
	return fmt.Sprintf("%d kinds beside %d packages", s.kinds, s.packages)
}

// removeGenerated makes a run write everything again.
func removeGenerated(dir string, _ int) error {
	err := os.Remove(filepath.Join(dir, "api", "v1", "zz_generated.deepcopy.go"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, "config"))
}

// anotherKindField gives a kind one more field, with another name before each run.
func anotherKindField(dir string, run int) error {
	path := filepath.Join(dir, "api", "v1", "kind0_types.go")
	field := fmt.Sprintf("type Kind0Spec struct {\n\tField%d *string `json:\"field%[1]d,omitempty\"`\n", run)
	text := strings.Replace(kindFile(0), "type Kind0Spec struct {\n", field, 1)
	return os.WriteFile(path, []byte(text), 0o644)
}

// write writes the project. Its modules are those of the repository's root, so that nothing is downloaded.
func (s size) write(ctx context.Context, dir string) error {
	root, err := build.Root(ctx)
	if err != nil {
		return err
	}
	goMod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	goSum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(goMod), "\n")
	all := map[string]string{
		"go.mod":        "module example.com/curve\n" + rest,
		"go.sum":        string(goSum),
		"api/v1/doc.go": "// Package v1 is an API.\n//\n// +kubebuilder:object:generate=true\n// +groupName=curve.example.com\npackage v1\n",
	}
	for i := range s.kinds {
		all[fmt.Sprintf("api/v1/kind%d_types.go", i)] = kindFile(i)
	}
	const filesPerPackage = 10
	for i := range s.packages {
		for j := range filesPerPackage {
			all[fmt.Sprintf("internal/part%d/file%d.go", i, j)] = partFile(i, j)
		}
	}
	return writeFiles(dir, all)
}

func writeFiles(dir string, all map[string]string) error {
	for name, content := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// kindFile declares a kind as people write them: some twenty fields, two levels deep.
func kindFile(number int) string {
	return strings.ReplaceAll(kindText, "NUMBER", fmt.Sprint(number))
}

const kindText = `package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// KindNUMBERPart is a part of a KindNUMBER.
type KindNUMBERPart struct {
	// Name tells the part from others.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string ` + "`json:\"name\"`" + `

	// Port is where it listens.
	// +optional
	Port *intstr.IntOrString ` + "`json:\"port,omitempty\"`" + `

	// Memory is what it may use.
	// +optional
	Memory *resource.Quantity ` + "`json:\"memory,omitempty\"`" + `

	// Labels are put on everything that is made for it.
	// +optional
	Labels map[string]string ` + "`json:\"labels,omitempty\"`" + `

	// Timeout is how long to wait for it.
	// +optional
	Timeout *metav1.Duration ` + "`json:\"timeout,omitempty\"`" + `
}

// KindNUMBERSpec is what is wanted.
// +kubebuilder:validation:XValidation:rule="self.parts.size() > 0",message="at least one part"
type KindNUMBERSpec struct {
	// Replicas is how many there should be.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replicas *int32 ` + "`json:\"replicas,omitempty\"`" + `

	// Mode is how they work together.
	// +kubebuilder:validation:Enum=Alone;Together;Apart
	// +optional
	Mode string ` + "`json:\"mode,omitempty\"`" + `

	// Parts are what it consists of.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Parts []KindNUMBERPart ` + "`json:\"parts\"`" + `

	// Selector finds what belongs to it.
	// +optional
	Selector *metav1.LabelSelector ` + "`json:\"selector,omitempty\"`" + `

	// ByName are parts that are looked up.
	// +optional
	ByName map[string]KindNUMBERPart ` + "`json:\"byName,omitempty\"`" + `

	// Paused stops all work.
	// +optional
	Paused bool ` + "`json:\"paused,omitempty\"`" + `
}

// KindNUMBERStatus is what is.
type KindNUMBERStatus struct {
	// Conditions tell how it is doing.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition ` + "`json:\"conditions,omitempty\"`" + `

	// Ready is how many work.
	// +optional
	Ready int32 ` + "`json:\"ready,omitempty\"`" + `
}

// KindNUMBER is one of many.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=".status.ready"
type KindNUMBER struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec   KindNUMBERSpec   ` + "`json:\"spec,omitempty\"`" + `
	Status KindNUMBERStatus ` + "`json:\"status,omitempty\"`" + `
}

// KindNUMBERList is a list of them.
// +kubebuilder:object:root=true
type KindNUMBERList struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ListMeta ` + "`json:\"metadata,omitempty\"`" + `
	Items           []KindNUMBER ` + "`json:\"items\"`" + `
}
`

// partFile is a file of a package that the API does not need: functions and the types that they work with.
func partFile(part, file int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package part%d\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n\t\"strings\"\n)\n\n", part)
	fmt.Fprintf(&b, "// State%d is what the functions below work with.\ntype State%[1]d struct {\n\tname string\n\tsteps []string\n}\n\n", file)
	const functions = 20
	for i := range functions {
		fmt.Fprintf(&b, partText, file, i)
	}
	return b.String()
}

const partText = `// Step%[1]d_%[2]d does a step.
func (s *State%[1]d) Step%[1]d_%[2]d(words ...string) error {
	if len(words) == 0 {
		return errors.New("nothing to do")
	}
	for i, word := range words {
		if strings.HasPrefix(word, s.name) {
			return fmt.Errorf("word %%d is %%q", i, word)
		}
		s.steps = append(s.steps, strings.ToUpper(word))
	}
	return nil
}

`
