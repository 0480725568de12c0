package edition

import (
	"reflect"
	"regexp"
	"testing"

	"golang.org/x/mod/semver"
)

// TestTable: each row says something, in order, and names where it comes from; each version is one that there is.
func TestTable(t *testing.T) {
	place := regexp.MustCompile(`^(issues? )?#[0-9]+(, #[0-9]+)*$|go\.mod`)
	before := Oldest
	for _, c := range table {
		if !semver.IsValid(c.since) || semver.Compare(c.since, before) < 0 || semver.Compare(c.since, Newest) > 0 {
			t.Errorf("%s %q: out of order after %s", c.since, c.what, before)
		}
		before = c.since
		if c.what == "" || !place.MatchString(c.where) {
			t.Errorf("%s: no word of what or where: %q, %q", c.since, c.what, c.where)
		}
		if c.set == nil && len(c.words) == 0 {
			t.Errorf("%s %q changes nothing", c.since, c.what)
		}
	}
}

// TestRowsMatter: each row that sets something changes it.
func TestRowsMatter(t *testing.T) {
	upTo := func(rows []change) Edition {
		e := first()
		for _, c := range rows {
			if c.set != nil {
				c.set(&e)
			}
		}
		return e
	}
	for i, c := range table {
		if c.set != nil && reflect.DeepEqual(upTo(table[:i]), upTo(table[:i+1])) {
			t.Errorf("%s %q sets what is so already", c.since, c.what)
		}
	}
}

func TestLater(t *testing.T) {
	for _, test := range []struct {
		version string
		word    Word
		want    string
	}{
		{"v0.14.0", Word{Name: "kubebuilder:validation:items:Enum", Target: "field"}, "v0.15.0"},
		{"v0.15.0", Word{Name: "kubebuilder:validation:items:Enum", Target: "type"}, ""},
		{"v0.18.0", Word{Name: "kubebuilder:title", Target: "field"}, ""},
		{"v0.18.0", Word{Name: "kubebuilder:title", Target: "type"}, "v0.20.0"},
		{"v0.16.5", Word{Name: "kubebuilder:webhook", Target: "package"}, ""},
		{"v0.16.5", Word{Name: "kubebuilder:webhook", Argument: "patch"}, "v0.22.0"},
		{"v0.14.0", Word{Name: "kubebuilder:validation:items:XValidation", Argument: "reason"}, "v0.16.0"},
		{"v0.17.3", Word{Name: "applyconfiguration"}, "v0.18.0"},
		{"v0.22.0", Word{Name: "crd", Argument: "omitToolVersion"}, "v0.23.0"},
		{Newest, Word{Name: "crd", Argument: "omitToolVersion"}, ""},
	} {
		if got := For(test.version).Later(test.word); got != test.want {
			t.Errorf("%s: %+v since %q, want %q", test.version, test.word, got, test.want)
		}
	}
}

func TestRangeOf(t *testing.T) {
	for version, want := range map[string]Range{
		"v0.13.0": Before, "v0.14.0": Within, "v0.14.0-rc.1": Within, "v0.17.4": Within, "v0.17.4-0.20250101000000-abcdefabcdef": Within,
		"v0.23.0": Within, "v0.23.1": After, "v1.0.0": After, "latest": Unknown, "": Unknown, "0.17.0": Unknown,
	} {
		if got := RangeOf(version); got != want {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
}

// TestPreReleases: what comes before or after a release is what its numbers say.
func TestPreReleases(t *testing.T) {
	for version, like := range map[string]string{"v0.18.0-rc.1": "v0.18.0", "v0.17.9": "v0.17.3", "v0.30.0": Newest, "": Newest} {
		got, want := For(version), For(like)
		if version != "" && got.Version != version {
			t.Errorf("%s calls itself %s", version, got.Version)
		}
		got.Version, want.Version = "", ""
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q is not like %s", version, like)
		}
	}
}
