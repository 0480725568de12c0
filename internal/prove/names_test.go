package prove

import "testing"

// TestNames: the parts of a name that are made at random are learned from two runs, wherever they are.
func TestNames(t *testing.T) {
	n := learnNames(
		map[string]bool{"d/blog": true, "d/blog-job-x7f2k": true, "d/blog-job-x7f2k-abcde": true, "d/blog-x7f2k-config": true, "d/gone-once": true},
		map[string]bool{"d/blog": true, "d/blog-job-q9w8e": true, "d/blog-job-q9w8e-fghij": true, "d/blog-q9w8e-config": true},
	)
	for name, want := range map[string]string{
		"blog":                   "blog",
		"blog-job-zzzzz":         "blog-job-*",
		"blog-job-zzzzz-yyyyy":   "blog-job-*-*",
		"blog-zzzzz-config":      "blog-*-config",
		"blog-job-*":             "blog-job-*",
		"other-zzzzz":            "other-*",
		"unheard":                "*",
		"blog-zzzzz-config-more": "blog-zzzzz-config-*",
	} {
		if got := n.canonical("d", name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := prefix("blog-*-config"); got != "blog-*" {
		t.Errorf("a door matches %s", got)
	}
}
