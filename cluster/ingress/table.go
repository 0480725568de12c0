package ingress

import (
	"cmp"
	"net"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
)

// table is where requests go, for all Ingresses. It does not change.
type table struct {
	hosts    map[string][]route // lower-case; *.example.com for all one label below; empty for all others
	defaults map[string]backend // by host, in the same form: of Ingresses that have rules for the host
	fallback *backend           // where nothing else matches
	secrets  map[string]secret  // by host, in the same form
}

// route is one path of one host.
type route struct {
	path    string
	exact   bool
	backend backend
}

// backend is a port of a Service.
type backend struct {
	namespace, service string
	port               networkingv1.ServiceBackendPort
}

// secret names a Secret with a certificate.
type secret struct{ namespace, name string }

// newTable makes the table of Ingresses. The older Ingress wins where two say something about the same.
func newTable(all []*networkingv1.Ingress) *table {
	t := &table{hosts: map[string][]route{}, defaults: map[string]backend{}, secrets: map[string]secret{}}
	slices.SortFunc(all, func(a, b *networkingv1.Ingress) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, i := range all {
		t.add(i)
	}
	for _, routes := range t.hosts {
		slices.SortStableFunc(routes, func(a, b route) int {
			if n := cmp.Compare(len(b.path), len(a.path)); n != 0 || a.exact == b.exact {
				return n
			}
			if a.exact {
				return -1
			}
			return 1
		})
	}
	return t
}

func (t *table) add(i *networkingv1.Ingress) {
	rest, hasRest := backendOf(i.Namespace, i.Spec.DefaultBackend)
	if hasRest && t.fallback == nil {
		t.fallback = &rest
	}
	for _, rule := range i.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		host := strings.ToLower(rule.Host)
		if _, taken := t.defaults[host]; hasRest && !taken {
			t.defaults[host] = rest
		}
		for _, p := range rule.HTTP.Paths {
			if b, ok := backendOf(i.Namespace, &p.Backend); ok {
				exact := p.PathType != nil && *p.PathType == networkingv1.PathTypeExact
				t.hosts[host] = append(t.hosts[host], route{pathOf(p.Path, exact), exact, b})
			}
		}
	}
	t.addSecrets(i)
}

func (t *table) addSecrets(i *networkingv1.Ingress) {
	for _, tls := range i.Spec.TLS {
		hosts := tls.Hosts
		if len(hosts) == 0 {
			hosts = []string{""}
		}
		for _, host := range hosts {
			host = strings.ToLower(host)
			if _, taken := t.secrets[host]; !taken && tls.SecretName != "" {
				t.secrets[host] = secret{i.Namespace, tls.SecretName}
			}
		}
	}
}

// backendOf is the Service that a backend names; one that names another resource leads nowhere.
func backendOf(namespace string, b *networkingv1.IngressBackend) (backend, bool) {
	if b == nil || b.Service == nil {
		return backend{}, false
	}
	return backend{namespace, b.Service.Name, b.Service.Port}, true
}

// pathOf is a rule's path as requests are compared with it. A prefix counts by its elements, so that a slash at its end
// says nothing.
func pathOf(path string, exact bool) string {
	if exact {
		return path
	}
	return strings.TrimRight(path, "/")
}

func (r route) matches(path string) bool {
	if path == r.path {
		return true
	}
	return !r.exact && strings.HasPrefix(path, r.path) && path[len(r.path)] == '/'
}

// find finds the backend of a request. The host that is named most closely decides, also where none of its paths
// matches: then its Ingress's default backend comes before those of others.
func (t *table) find(host, path string) (backend, bool) {
	for _, name := range names(host) {
		routes, ok := t.hosts[name]
		if !ok {
			continue
		}
		if i := slices.IndexFunc(routes, func(r route) bool { return r.matches(path) }); i >= 0 {
			return routes[i].backend, true
		}
		if b, ok := t.defaults[name]; ok {
			return b, true
		}
		break
	}
	if t.fallback != nil {
		return *t.fallback, true
	}
	return backend{}, false
}

// names are those by which rules may mean a host, the closest first.
func names(host string) []string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	all := []string{host}
	if _, parent, ok := strings.Cut(host, "."); ok {
		all = append(all, "*."+parent)
	}
	if host != "" {
		all = append(all, "")
	}
	return all
}

// secretOf is the Secret with the certificate of a server name.
func (t *table) secretOf(host string) (secret, bool) {
	for _, name := range names(host) {
		if s, ok := t.secrets[name]; ok {
			return s, true
		}
	}
	return secret{}, false
}
