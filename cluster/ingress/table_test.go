package ingress

import (
	"fmt"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
)

// FuzzFind: whatever hosts and paths Ingresses and clients have, a request finds the rule for its own host and path, or
// one for all, and nothing of another host.
func FuzzFind(f *testing.F) {
	for _, s := range [][3]string{
		{"shop.test", "/api", "/api/v1"}, {"*.shop.test", "", "*"}, {"", "/\x1b[31m", "/\x00"}, {"*", "//", ""}, {"[::1]", "/..", "/%2e%2e"}, {".", "/a/", "/a"}, {"a..b", "x", "x/"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, host, path, asked string) {
		table := newTable([]*networkingv1.Ingress{ingressOf("a",
			rule(host, path, networkingv1.PathTypePrefix, "prefix"), rule(host, path, networkingv1.PathTypeExact, "exact"),
		)})
		if _, ok := table.find("elsewhere.invalid", asked); ok && host != "" && !strings.EqualFold(host, "*.invalid") && !strings.EqualFold(host, "elsewhere.invalid") {
			t.Errorf("a rule of %q answers for another host", host)
		}
		b, ok := table.find(host, path)
		if known := names(host)[0] == strings.ToLower(host); known && (!ok || b.service != "exact") {
			t.Errorf("%q%q leads to %q, %t", host, path, b.service, ok)
		}
		table.find(host, asked)
		table.secretOf(asked)
	})
}

// TestManyRules: a request among ten thousand rules finds its own.
func TestManyRules(t *testing.T) {
	i := ingressOf("many")
	const many = 10_000
	for n := range many {
		i.Spec.Rules = append(i.Spec.Rules, rule("shop.test", fmt.Sprint("/", n), networkingv1.PathTypePrefix, fmt.Sprint("s", n)))
	}
	table := newTable([]*networkingv1.Ingress{i})
	for _, n := range []int{0, 7, 77, many - 1} {
		if b, ok := table.find("shop.test", fmt.Sprint("/", n, "/x")); !ok || b.service != fmt.Sprint("s", n) {
			t.Errorf("/%d leads to %q", n, b.service)
		}
	}
}

func BenchmarkManyRules(b *testing.B) {
	i := ingressOf("many")
	for n := range 10_000 {
		i.Spec.Rules = append(i.Spec.Rules, rule("shop.test", fmt.Sprint("/", n), networkingv1.PathTypePrefix, "web"))
	}
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			newTable([]*networkingv1.Ingress{i})
		}
	})
	table := newTable([]*networkingv1.Ingress{i})
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			table.find("shop.test", "/none")
		}
	})
}
