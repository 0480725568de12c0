#!/bin/bash
# An operator in shell: a Shop gets a ConfigMap and a Service. The first argument is slipway, whose kubectl it uses.
# With a second argument "semicolon" it makes a mistake that scripts often have: nothing looks whether a command failed.
slipway=$1 bug=$2

objects() {
	cat <<END
apiVersion: v1
kind: ConfigMap
metadata:
  name: $name
  namespace: $namespace
  ownerReferences: [{apiVersion: prove.example.com/v1, kind: Shop, name: $name, uid: $uid}]
data: {size: "$size"}
---
apiVersion: v1
kind: Service
metadata:
  name: $name
  namespace: $namespace
  ownerReferences: [{apiVersion: prove.example.com/v1, kind: Shop, name: $name, uid: $uid}]
spec:
  selector: {shop: $name}
  ports: [{name: http, port: 80}]
END
}

apply() {
	objects | "$slipway" kubectl apply --server-side --force-conflicts --field-manager shop -f -
}

finish() {
	"$slipway" kubectl patch shop "$name" -n "$namespace" --subresource status --type merge \
		-p "{\"status\":{\"observedGeneration\":$generation}}"
}

# now prints the shop as it is now, nothing if it is gone.
now() {
	"$slipway" kubectl get shop "$name" -n "$namespace" --ignore-not-found \
		-o jsonpath='{.metadata.uid} {.spec.size} {.metadata.generation}'
}

reconcile() {
	local shop
	shop=$(now) || return 1
	test -z "$shop" && return 0
	read -r uid size generation <<<"$shop"
	if [ "$bug" = semicolon ]; then
		apply
		finish
		return 0
	fi
	apply && finish
}

while true; do
	"$slipway" kubectl get shops -A --watch -o jsonpath='{.metadata.namespace} {.metadata.name}{"\n"}' |
		while read -r namespace name; do
			until reconcile </dev/null; do sleep 0.3; done
		done
	sleep 0.3
done
