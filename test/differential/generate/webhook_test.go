package generate

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-dev/slipway/bench/build"
	"github.com/slipway-dev/slipway/test/differential/generate/oracle"
)

var (
	webhookMutations = flag.Int("webhook-mutations", 600, "how many random webhook sources to compare")
	webhookSeed      = flag.Uint64("webhook-seed", 1, "what the random webhook sources come from")
)

// slipwayProgram is the program to compare.
func slipwayProgram(t *testing.T) string {
	t.Helper()
	if *slipwayFlag != "" {
		return *slipwayFlag
	}
	program, err := build.Slipway(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return program
}

const (
	validating = "path=/validate-x,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create;update,versions=v1,name=vx.example.com,admissionReviewVersions=v1"
	mutating   = "path=/mutate-x,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=xs,verbs=create;update,versions=v1,name=mx.example.com,admissionReviewVersions=v1"
)

// webhookSources are the sources of packages, written to show one thing each.
var webhookSources = map[string]string{
	"plain":           lines("+kubebuilder:webhook:"+validating, "+kubebuilder:webhook:"+mutating),
	"one":             lines("+kubebuilder:webhook:" + validating),
	"notypes":         "package x\n\n// +kubebuilder:webhook:" + validating + "\n",
	"none":            "package x\n\ntype T struct{}\n",
	"order":           lines(each("+kubebuilder:webhook:"+mutating, "mx.", "z.mx.", "B.mx.", "a.mx.", "10.mx.", "9.mx.", "_.mx.")...),
	"samename":        lines(numbered("+kubebuilder:webhook:"+mutating, "mutate-x", 40)...),
	"core":            lines("+kubebuilder:webhook:" + replaced(mutating, "groups=apps", `groups="";core;apps;"*"`)),
	"star":            lines("+kubebuilder:webhook:" + replaced(mutating, "verbs=create;update", `verbs=*`, "versions=v1", `versions=*`)),
	"verbs":           lines("+kubebuilder:webhook:" + replaced(mutating, "verbs=create;update", `verbs=Create;DELETE;connect;patch`)),
	"emptylists":      lines("+kubebuilder:webhook:" + replaced(mutating, "verbs=create;update", `verbs={}`, "groups=apps", "groups={}", "resources=xs", "resources={}")),
	"noreview":        lines("+kubebuilder:webhook:" + replaced(mutating, "admissionReviewVersions=v1", `admissionReviewVersions={}`)),
	"url":             lines("+kubebuilder:webhook:" + replaced(mutating, "path=/mutate-x", `url="https://example.com:9443/x"`)),
	"urlandpath":      lines("+kubebuilder:webhook:" + mutating + `,url="https://example.com"`),
	"nopath":          lines("+kubebuilder:webhook:" + replaced(mutating, "path=/mutate-x,", "")),
	"service":         lines("+kubebuilder:webhook:" + mutating + ",serviceName=s,serviceNamespace=n,servicePort=8443"),
	"port":            lines("+kubebuilder:webhook:" + mutating + ",servicePort=4294967739"),
	"portword":        lines("+kubebuilder:webhook:" + mutating + ",servicePort=https"),
	"timeout":         lines("+kubebuilder:webhook:" + mutating + ",timeoutSeconds=30"),
	"timeout0":        lines("+kubebuilder:webhook:" + mutating + ",timeoutSeconds=0"),
	"timeout31":       lines("+kubebuilder:webhook:" + mutating + ",timeoutSeconds=31"),
	"timeoutwraps":    lines("+kubebuilder:webhook:" + mutating + ",timeoutSeconds=4294967306"),
	"timeoutnegative": lines("+kubebuilder:webhook:" + mutating + ",timeoutSeconds=-1"),
	"sideeffectssome": lines("+kubebuilder:webhook:" + replaced(mutating, "sideEffects=None", "sideEffects=Some")),
	"sideeffectsodd":  lines("+kubebuilder:webhook:" + replaced(mutating, "sideEffects=None", "sideEffects=Odd")),
	"sideeffectsdry":  lines("+kubebuilder:webhook:" + replaced(mutating, "sideEffects=None", "sideEffects=noneondryrun")),
	"nosideeffects":   lines("+kubebuilder:webhook:" + replaced(mutating, "sideEffects=None,", "")),
	"matchpolicy":     lines("+kubebuilder:webhook:" + mutating + ",matchPolicy=eXact"),
	"matchpolicyodd":  lines("+kubebuilder:webhook:" + mutating + ",matchPolicy=Odd"),
	"reinvoke":        lines("+kubebuilder:webhook:" + mutating + ",reinvocationPolicy=ifNeeded"),
	"reinvokeodd":     lines("+kubebuilder:webhook:" + mutating + ",reinvocationPolicy=always"),
	"reinvokevalid":   lines("+kubebuilder:webhook:" + validating + ",reinvocationPolicy=Never"),
	"versions":        lines("+kubebuilder:webhook:" + mutating + ",webhookVersions=v1;v1"),
	"oldversion":      lines("+kubebuilder:webhook:" + mutating + ",webhookVersions=v1beta1"),
	"noversions":      lines("+kubebuilder:webhook:" + mutating + ",webhookVersions={}"),
	"misspelt":        lines("+kubebuilder:webhook:" + mutating + ",timeoutSecond=10"),
	"misspeltmarker":  lines("+kubebuilder:webhok:" + mutating),
	"verbsfirst":      lines("+kubebuilder:webhook:verbs=create," + replaced(mutating, "verbs=create;update,", "")),
	"twice":           lines("+kubebuilder:webhook:" + mutating + ",name=other.example.com,verbs=delete"),
	"named":           lines("+kubebuilder:webhookconfiguration:mutating=true,name=mine", "+kubebuilder:webhookconfiguration:mutating=false,name=yours", "+kubebuilder:webhook:"+mutating, "+kubebuilder:webhook:"+validating),
	"namedtwice":      lines("+kubebuilder:webhookconfiguration:mutating=true,name=mine", "+kubebuilder:webhookconfiguration:mutating=true,name=yours", "+kubebuilder:webhook:"+mutating),
	"namedonly":       lines("+kubebuilder:webhookconfiguration:mutating=true,name=mine"),
	"namedempty":      lines("+kubebuilder:webhookconfiguration:mutating=true", "+kubebuilder:webhook:"+mutating),
	"ontype":          "package x\n\n// T is one.\n// +kubebuilder:webhook:" + mutating + "\ntype T struct{}\n",
	"abovetype":       "package x\n\n// +kubebuilder:webhook:" + mutating + "\n\n// T is one.\ntype T struct{}\n",
	"onfunc":          "package x\n\n// F is one.\n// +kubebuilder:webhook:" + mutating + "\nfunc F() {}\n",
	"abovefunc":       "package x\n\n// +kubebuilder:webhook:" + mutating + "\n\n// F is one.\nfunc F() {}\n",
	"infunc":          "package x\n\nfunc F() {\n\t// +kubebuilder:webhook:" + mutating + "\n}\n",
	"onvar":           "package x\n\n// +kubebuilder:webhook:" + mutating + "\nvar _ = 1\n",
	"onpackage":       "// Package x is one.\n// +kubebuilder:webhook:" + mutating + "\npackage x\n",
	"atend":           "package x\n\nvar _ = 1\n\n// +kubebuilder:webhook:" + mutating,
	"patch":           lines("+kubebuilder:webhook:" + mutating + ",patch=`{\"namespaceSelector\":{\"matchLabels\":{\"a\":\"true\"}},\"matchConditions\":[{\"name\":\"b\",\"expression\":\"a < b && c > d\"}]}`"),
	"patchname":       lines("+kubebuilder:webhook:"+mutating+",patch=`{\"name\":\"zz.example.com\"}`", "+kubebuilder:webhook:"+replaced(mutating, "name=mx", "name=nx")),
}

// lines is a package whose markers stand alone.
func lines(markers ...string) string {
	var b strings.Builder
	b.WriteString("// Package x is one.\npackage x\n")
	for _, m := range markers {
		b.WriteString("\n// " + m + "\n")
	}
	return b.String()
}

func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

func each(text, old string, with ...string) []string {
	var all []string
	for _, w := range with {
		all = append(all, strings.Replace(text, old, w, 1))
	}
	return all
}

func numbered(text, old string, n int) []string {
	var all []string
	for i := range n {
		all = append(all, strings.Replace(text, old, fmt.Sprint(old, i*7%n), 1))
	}
	return all
}

// TestWebhooksSameAsControllerGen compares what both programs make of webhook
// markers: hand-written packages and random ones.
func TestWebhooksSameAsControllerGen(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-mutants")
	}
	sources := maps.Clone(webhookSources)
	for i, patch := range patches {
		sources[fmt.Sprintf("patch%03d", i)] = lines("+kubebuilder:webhook:" + mutating + ",patch=`" + patch + "`")
		sources[fmt.Sprintf("vpatch%03d", i)] = lines("+kubebuilder:webhook:" + validating + ",patch=`" + patch + "`")
	}
	random := rand.New(rand.NewPCG(*webhookSeed, 0))
	for i := range *webhookMutations {
		sources[fmt.Sprintf("random%05d", i)] = webhookMutant(random)
	}
	compareWebhooks(t, sources)
}

func compareWebhooks(t *testing.T, sources map[string]string) {
	names := slices.Sorted(maps.Keys(sources))
	dir := webhookPackages(t, sources, names)
	want, got := peerWebhooks(t, dir, names), ourWebhooks(t, dir, names)
	succeeded := 0
	for _, name := range names {
		if want[name][0].err == nil {
			succeeded++
		}
	}
	differing := slices.DeleteFunc(names, func(name string) bool { return slices.ContainsFunc(want[name], got[name].same) })
	for _, name := range differing[:min(len(differing), 20)] {
		w, g := want[name][0], got[name]
		t.Errorf("%s differs in each of %d runs:\n%s\ncontroller-gen: %v\n%s\nslipway: %v\n%s", name, variants, sources[name], w.err, w.manifest, g.err, g.manifest)
	}
	t.Logf("%d packages, of which controller-gen accepts %d; %d differ", len(sources), succeeded, len(differing))
	if succeeded < len(sources)/8 { // old versions know no patches, which are most of the packages written by hand
		t.Errorf("controller-gen accepts only %d of %d packages", succeeded, len(sources))
	}
}

const webhookModule = "example.com/webhooks"

// webhookPackages is a module with some of the packages.
func webhookPackages(t *testing.T, sources map[string]string, names []string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	writeFile(t, filepath.Join(dir, "go.mod"), "module "+webhookModule+"\n\ngo 1.26\n")
	for _, name := range names {
		writeFile(t, filepath.Join(dir, name, "x.go"), sources[name])
	}
	return dir
}

// manifestOf is what a program made of one package.
type manifestOf struct {
	manifest []byte // nil without one
	err      error
}

// same reports whether two programs made the same of a package, whatever they said to what they refused.
func (m manifestOf) same(other manifestOf) bool {
	return (m.err == nil) == (other.err == nil) && (m.err != nil || bytes.Equal(m.manifest, other.manifest))
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// peerWebhooks are the different results of controller-gen's generator for each package below dir by itself: the order
// of what it writes is chance at times.
func peerWebhooks(t *testing.T, dir string, names []string) map[string][]manifestOf {
	t.Helper()
	program, err := oracleProgram(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := oracle.Start(t.Context(), program, dir)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]manifestOf, len(names))
	for _, name := range names {
		answer, err := peer.Ask(oracle.Request{Generator: "webhook", Packages: []string{webhookModule + "/" + name}, Runs: variants})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range answer.Variants {
			all[name] = append(all[name], manifestFrom(v))
		}
	}
	if err := peer.Close(); err != nil {
		t.Error(err)
	}
	return all
}

// manifestFrom is what a run of controller-gen made.
func manifestFrom(v oracle.Variant) (m manifestOf) {
	if v.Failed() {
		m.err = fmt.Errorf("%s %q", v.Panic, v.Errors)
	}
	if text, is := v.Files["manifests.yaml"]; is {
		m.manifest = []byte(text)
	}
	return m
}

// ourWebhooks runs slipway as controller-gen on each package by itself.
func ourWebhooks(t *testing.T, dir string, names []string) map[string]manifestOf {
	t.Helper()
	program := slipwayProgram(t)
	out := t.TempDir()
	outcomes := make([]manifestOf, len(names))
	var group errgroup.Group
	group.SetLimit(2)
	for i, name := range names {
		group.Go(func() error {
			cmd := exec.CommandContext(t.Context(), program, "controller-gen", "webhook", "paths=./"+name, "output:dir="+filepath.Join(out, name))
			cmd.Dir = dir
			output, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, output)
			}
			outcomes[i].err = err
			return nil
		})
	}
	_ = group.Wait()
	all := make(map[string]manifestOf, len(names))
	for i, name := range names {
		all[name] = manifestOf{manifestIn(t, filepath.Join(out, name)), outcomes[i].err}
	}
	return all
}

// manifestIn is the only file in a folder, which need not be there.
func manifestIn(t *testing.T, dir string) []byte {
	t.Helper()
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	for name, content := range readTree(t, dir) {
		if name != "manifests.yaml" {
			t.Errorf("%s: unexpected file", filepath.Join(dir, name))
		}
		return content
	}
	return nil
}

// TestSchemaPatchSameAsControllerGen patches definitions in several states, some
// written by hand with comments, with the schemas of the crd generator's own tests.
func TestSchemaPatchSameAsControllerGen(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-mutants")
	}
	root, err := build.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := controllerGen(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ours := slipwayProgram(t)
	dir := filepath.Join(root, "internal", "generate", "internal", "schemapatch")
	for _, options := range []string{"", ",maxDescLen=0", ",maxDescLen=30,generateEmbeddedObjectMeta=true"} {
		t.Run(strings.NewReplacer(",", " ", "=", " ").Replace("options"+options), func(t *testing.T) {
			patch := func(program ...string) string {
				out := t.TempDir()
				arguments := append(program[1:], "schemapatch:manifests=testdata/manifests"+options, "paths=../crd/testdata/features/...", "output:dir="+out)
				cmd := exec.CommandContext(t.Context(), program[0], arguments...)
				cmd.Dir = dir
				if output, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", cmd, err, output)
				}
				return out
			}
			mine, theirs := patch(ours, "controller-gen"), patch(peer)
			if written := readTree(t, theirs); len(written) < 3 {
				t.Errorf("controller-gen wrote %d files only", len(written))
			}
			// Validations from markers of several kinds stand in an order of controller-gen's chance.
			for run := 1; run < variants && !reflect.DeepEqual(readTree(t, mine), readTree(t, theirs)); run++ {
				theirs = patch(peer)
			}
			compareTrees(t, mine, theirs)
		})
	}
}
