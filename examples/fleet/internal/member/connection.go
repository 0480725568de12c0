// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/connrotation"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
)

// A link holds the connections of one engagement, so that they can all be closed.
type link struct {
	config *rest.Config
	dialer *connrotation.Dialer
}

// link returns a link on which connections are opened until ctx ends. The context of a request would not do: Go's
// transport goes on connecting after it, for later requests.
func (m *member) link(ctx context.Context) link {
	tcp := &net.Dialer{Timeout: m.options.Timeout, KeepAlive: 30 * time.Second}
	dialer := connrotation.NewDialer(func(_ context.Context, network, address string) (net.Conn, error) {
		return tcp.DialContext(ctx, network, address)
	})
	config := rest.CopyConfig(m.connection.Config)
	config.Dial = dialer.DialContext
	return link{config, dialer}
}

func (l link) close() { l.dialer.CloseAll() }

// open returns the member as a cluster of controller-runtime: a client and a cache for one kind. Nothing is asked of
// the member yet.
func (m *member) open(l link, watchFailed func(error)) (cluster.Cluster, error) {
	http, err := rest.HTTPClientFor(l.config)
	if err != nil {
		return nil, fmt.Errorf("open the connection: %w", err)
	}
	http.CheckRedirect = noRedirects
	cl, err := cluster.New(l.config, func(o *cluster.Options) {
		o.Scheme, o.HTTPClient, o.MapperProvider = m.options.Scheme, http, m.mapper
		o.Cache = cache.Options{
			DefaultTransform:            cache.TransformStripManagedFields(),
			ReaderFailOnMissingInformer: true,
			DefaultWatchErrorHandler: func(_ context.Context, _ *toolscache.Reflector, err error) {
				watchFailed(err)
			},
		}
		o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}
	})
	if err != nil {
		return nil, fmt.Errorf("open the cluster: %w", err)
	}
	return cl, m.addIndexes(cl)
}

func (m *member) addIndexes(cl cluster.Cluster) error {
	for _, i := range m.indexes {
		if err := cl.GetFieldIndexer().IndexField(context.Background(), i.object, i.field, i.extract); err != nil {
			return fmt.Errorf("index %s: %w", i.field, err)
		}
	}
	return nil
}

// noRedirects keeps a member from sending the operator to other servers.
func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// mapper knows the one kind. The usual one would read the list of all kinds from each member.
func (m *member) mapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	kind, err := apiutil.GVKForObject(m.options.Kind, m.options.Scheme)
	if err != nil {
		return nil, err
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(kind, meta.RESTScopeNamespace)
	return mapper, nil
}

// look asks the member for the number of objects. That is answered only if it is there, serves the kind, and accepts
// the credentials; an endpoint for health says the first.
func (m *member) look(ctx context.Context, cl cluster.Cluster) (int64, error) {
	kind, err := apiutil.GVKForObject(m.options.Kind, m.options.Scheme)
	if err != nil {
		return 0, err
	}
	list := listOf(metav1.GroupVersionKind(kind))
	ctx, cancel := context.WithTimeout(ctx, m.options.Timeout)
	defer cancel()
	if err := cl.GetAPIReader().List(ctx, list, client.Limit(1)); err != nil {
		return 0, err
	}
	count := int64(len(list.Items))
	if list.RemainingItemCount != nil {
		count += *list.RemainingItemCount
	}
	return count, nil
}

// fill waits until the cache is filled.
func (m *member) fill(ctx context.Context, cl cluster.Cluster) error {
	ctx, cancel := context.WithTimeoutCause(ctx, m.options.Timeout, errSlow)
	defer cancel()
	if _, err := cl.GetCache().GetInformer(ctx, m.options.Kind); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	return nil
}
