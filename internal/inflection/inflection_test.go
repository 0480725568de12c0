package inflection_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/gobuffalo/flect"

	"github.com/slipway-dev/slipway/internal/inflection"
)

// endings are ends of English words, among them all by which flect tells words apart.
const endings = `ache ade af afe age air al ama ano ant antum arf arm atum ay base bean beau brum bula bum cava ce ch child chive
craft crum ctum data day deer dex die dix don dula dum dwarf eaf eau eau ed elf elum en entum er ernum es ese etum eum ex ey
ez fe fish foot ful fy gnosis gnum goose hedron hive hoof house iasis ice ics ie ies ilum imum ing io ion is ise ish ism
itum ium ix iz kinesis la larva lf life llum lo louse lula ly lum man media ment mesis mouse move movie nula o oaf ode ois
olum on oo opsis ora os otum oum ous ouse ovum ox oy person phy police quiz quota quy radix resis rf rfe rice roof s se
series serum seum sh shoe sis ss stadium status stracum taxon te ter terum th thief tive to toe tooth trix trum tum tz ule
ulum um us use utum uy va va ves vita vula wife woman x y ylum you ysis z zz`

// beginnings come before them: nothing, letters, and words.
var beginnings = []string{"", "a", "s", "gr", "index", "My", "API", "Dns", "V2", "X", "my-", "$", "\xff"}

// shapes are how a name may be written.
var shapes = []func(string) string{
	func(s string) string { return s }, strings.ToUpper,
	func(s string) string {
		letters := []rune(s)
		letters[0] = unicode.ToUpper(letters[0])
		return string(letters)
	},
	func(s string) string { return s[:len(s)-1] + strings.ToUpper(s[len(s)-1:]) },
}

// names are words of the dictionary, plurals, and endings, in every shape; and some of these behind beginnings.
func names() []string {
	words := strings.Fields(endings + " " + inflection.Vocabulary)
	for _, word := range words {
		words = append(words, flect.Pluralize(word), cmp.Or(flect.Singularize(word), word))
	}
	var all []string
	for at, begin := range beginnings {
		for i, word := range words {
			if begin != "" && (i+at)%4 != 0 {
				continue
			}
			for _, shape := range shapes {
				all = append(all, begin+shape(word), shape(begin+word))
			}
		}
	}
	return append(all, "", " ", "-", "$", "$$a", "a$", "Ǆ", "ǆs", "İd", "ßs", " CronJob ", "cron_job:s", "a`b", "HTTPServer", "ServerHTTP", "1", "1s", "IDs")
}

// TestFlect: names have the plurals, and the camel case, that flect gives them.
func TestFlect(t *testing.T) {
	t.Parallel()
	all := names()
	if len(all) < 20_000 {
		t.Fatalf("only %d names", len(all))
	}
	for _, name := range all {
		if compare(t, name); t.Failed() {
			return
		}
	}
}

func compare(t *testing.T, name string) {
	t.Helper()
	if got, want := inflection.Plural(name), flect.Pluralize(name); got != want {
		t.Errorf("plural of %q: %q, and flect's is %q", name, got, want)
	}
	if got, want := inflection.CamelCase(name), flect.Pascalize(name); got != want {
		t.Errorf("camel case of %q: %q, and flect's is %q", name, got, want)
	}
}

// aCase is the variable by which a test asks its own program to compare, where flect begins with the files of a user.
const aCase = "SLIPWAY_TEST_INFLECTION"

// TestUsersFiles: words that users add in the working folder, or in a file that a variable names, have the plurals that
// flect gives them, and so have all others. A file that cannot be used adds nothing.
func TestUsersFiles(t *testing.T) {
	if os.Getenv(aCase) != "" {
		for _, name := range strings.Fields("Widget widget MyWidget Widgetry Widgetries WIDGET Pod Gpu MyGpu GPUSet MyXYZ Xyz XYZPod xyzPod Fish Axis CronTab MyCronTab Child") {
			compare(t, name)
		}
		t.Logf("%s %s %v", inflection.Plural("MyWidget"), inflection.CamelCase("my_xyz"), inflection.Check())
		return
	}
	for name, files := range map[string][3]string{ // plurals, acronyms, and a part of the result
		"nothing":           {"", "", "MyWidgets MyXyz <nil>"},
		"plurals":           {`{"widget": "widgetry", "CronTab": "CronTabz", "Axis": "Axen"}`, "", "MyWidgetry MyXyz <nil>"},
		"known plurals":     {`{"widgetum": "widgetry", "pods": "pod", "Child": "children2"}`, "", "MyWidgets MyXyz <nil>"},
		"acronyms":          {"", `["XYZ", "GPU", "widget"]`, "MyWidgets MyXYZ <nil>"},
		"both":              {`{"widget": "widgetry"} and more`, `["XYZ"]`, "MyWidgetry MyXYZ <nil>"},
		"no JSON":           {`{"widget": "widgetry"`, `XYZ`, "MyWidgets MyXyz inflections.json: unexpected EOF"},
		"other JSON":        {`["widget"]`, `{"XYZ": true}`, "MyWidgets MyXyz inflections.json: json: cannot unmarshal array"},
		"plurals in spaces": {`{"widget": "wid getry"}`, `["XYZ"]`, `MyWidgets MyXYZ "widget": "wid getry": a singular or plural has a space in it`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, file := range []string{"inflections.json", "acronyms.json"} {
				if files[i] == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(files[i]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			expect(t, files[2], dir)
			expect(t, "MyWidgets MyXyz <nil>", dir, "INFLECT_PATH=", "ACRONYMS_PATH=")
			t.Run("variables", func(t *testing.T) {
				want := strings.Replace(files[2], "inflections.json", filepath.Join(dir, "inflections.json"), 1)
				expect(t, want, t.TempDir(), "INFLECT_PATH="+filepath.Join(dir, "inflections.json"), "ACRONYMS_PATH="+filepath.Join(dir, "acronyms.json"))
			})
		})
	}
}

// expect runs this test in a folder and with variables, and has it come to a result.
func expect(t *testing.T, want, dir string, variables ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestUsersFiles$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), append(variables, aCase+"=1")...)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v: %v; want %s in\n%s", variables, err, want, out)
	}
}
