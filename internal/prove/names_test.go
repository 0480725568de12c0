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

// TestNamesOfItems: so are those of the items of lists, as of a volume that the API server adds to pods.
func TestNamesOfItems(t *testing.T) {
	pod := func(volume string) map[string]any {
		return object(t, `{"kind":"Pod","metadata":{"namespace":"default","name":"p"},"spec":{"volumes":[{"name":"data"},{"name":"`+volume+`"}],"containers":[{"name":"main","volumeMounts":[{"name":"`+volume+`","mountPath":"/token"}]}]}}`)
	}
	seen := func(o map[string]any) map[string]bool {
		all := map[string]bool{"default/p": true}
		items(o, "", func(list, name string) { all[list+"/"+name] = true })
		return all
	}
	c := canon{names: learnNames(seen(pod("access-x7k2p")), seen(pod("access-q9w8e")))}
	one, other := c.state([]map[string]any{pod("access-x7k2p")}, nil), c.state([]map[string]any{pod("access-zzzzz")}, nil)
	if d := one.differences(other, nil); len(d) > 0 {
		t.Errorf("they differ: %v", d)
	}
	if got := one["Pod default/p"]["spec.volumes[access-*].name"]; got != "access-*" {
		t.Errorf("the volume is %q", got)
	}
	if d := c.state([]map[string]any{pod("scratch")}, nil).differences(one, nil); len(d) == 0 {
		t.Error("another volume is no difference")
	}
}
