{{/* What no schema can say: values that must, or must not, be there together. All faults are told at once. */}}

{{- define "elasticron.faults" -}}
{{- $v := .Values -}}
{{- if not $v.image.repository }}
image.repository is missing: want where you pushed the image, such as registry.example.org/elasticron
{{- end }}
{{- if not (or $v.image.tag $v.image.digest) }}
image.tag is missing: want a tag, or image.digest
{{- end }}
{{- if and $v.worker.image.repository (not (or $v.worker.image.tag $v.worker.image.digest)) }}
worker.image.tag is missing: want a tag, or worker.image.digest
{{- end }}
{{- if and (not $v.worker.image.repository) (or $v.worker.image.tag $v.worker.image.digest) }}
worker.image.repository is missing: want it with worker.image.tag or worker.image.digest, or neither
{{- end }}
{{- if not (or $v.registry.etcd $v.registry.zookeeper) }}
registry.etcd is missing: want endpoints such as https://e1:2379, or registry.zookeeper
{{- end }}
{{- if and $v.registry.etcd $v.registry.zookeeper }}
registry.etcd and registry.zookeeper are given: want one of them
{{- end }}
{{- if not $v.registry.namespace }}
registry.namespace is missing: want the namespace of the jobs
{{- end }}
{{- if and $v.registry.user (not $v.registry.passwordSecret) }}
registry.passwordSecret is missing: want the name of a Secret with the key password, for registry.user {{ $v.registry.user | quote }}
{{- end }}
{{- if and $v.registry.passwordSecret (not $v.registry.user) }}
registry.user is missing: want the user whose password registry.passwordSecret holds
{{- end }}
{{- if and $v.registry.tls.clientCertificate (not $v.registry.tls.secret) }}
registry.tls.secret is missing: want the name of a Secret with tls.crt and tls.key, for registry.tls.clientCertificate
{{- end }}
{{- if not (or $v.server.enabled $v.worker.enabled) }}
server.enabled and worker.enabled are false: want one of them
{{- end }}
{{- if $v.server.enabled }}{{ include "elasticron.serverFaults" . }}{{ end }}
{{- if $v.worker.enabled }}{{ include "elasticron.workerFaults" . }}{{ end }}
{{- end -}}

{{- define "elasticron.serverFaults" -}}
{{- $s := .Values.server -}}
{{- if not (or $s.usersSecret $s.oidc.issuer $s.proxy.userHeader) }}
server.usersSecret is missing: want it, server.oidc.issuer or server.proxy.userHeader, as nobody is let in who is not asked who they are
{{- end }}
{{- if and (or (kindIs "invalid" $s.replicas) (gt (int $s.replicas) 1)) (or $s.usersSecret $s.oidc.issuer) (not $s.sessionKeySecret) }}
server.sessionKeySecret is missing: want it with server.replicas {{ kindIs "invalid" $s.replicas | ternary "null" (toString $s.replicas) }}, as a login would count on one replica only
{{- end }}
{{- if and $s.oidc.issuer (not (and $s.oidc.clientId $s.oidc.redirectUrl)) }}
server.oidc.clientId or server.oidc.redirectUrl is missing: want both with server.oidc.issuer
{{- end }}
{{- if and (not $s.oidc.issuer) (or $s.oidc.clientId $s.oidc.redirectUrl $s.oidc.secret $s.oidc.nameClaim $s.oidc.groupsClaim) }}
server.oidc.issuer is missing: want the URL of the provider with what else server.oidc has
{{- end }}
{{- if and (or $s.proxy.userHeader $s.proxy.groupsHeader) (not $s.proxy.from) }}
server.proxy.from is missing: want the addresses of the proxies, as anybody else could send their headers, too
{{- end }}
{{- with $s.serviceMonitor }}
{{- if and .enabled (not .tokenSecret) }}
server.serviceMonitor.tokenSecret is missing: want the name of a Secret with the key token, as the console tells its metrics to nobody whom it does not know
{{- end }}
{{- if and .enabled (not $s.usersSecret) }}
server.usersSecret is missing: want it with server.serviceMonitor.enabled, as its users.yaml has the token's hash
{{- end }}
{{- if and .enabled $s.tlsSecret (not .serverName) }}
server.serviceMonitor.serverName is missing: want the name in the certificate of server.tlsSecret, as Prometheus connects by address
{{- end }}
{{- if and (not $s.tlsSecret) (or .serverName .caSecret) }}
server.tlsSecret is missing: want it with server.serviceMonitor.serverName or caSecret, or neither
{{- end }}
{{- if and .enabled $.Values.networkPolicy.enabled (not $.Values.networkPolicy.metricsFrom) }}
networkPolicy.metricsFrom is missing: want the peers of Prometheus with server.serviceMonitor.enabled, as others may not connect
{{- end }}
{{- end }}
{{- end -}}

{{- define "elasticron.workerFaults" -}}
{{- $w := .Values.worker -}}
{{- if not (or (hasKey $w.config "script") (hasKey $w.config "http")) }}
worker.config has neither script nor http: want one of them, which says what may run, or worker.enabled: false
{{- end }}
{{- if hasKey $w.config "script" }}
{{- /* A duration can only be added to a date here. One that cannot be read adds nothing; the worker refuses it. */}}
{{- $stop := $w.config.script.stop | default "5s" | toString }}
{{- $epoch := toDate "2006-01-02 MST" "1970-01-01 UTC" }}
{{- if le (int64 $w.graceSeconds) (int64 (dateModify $stop $epoch | unixEpoch)) }}
worker.graceSeconds is {{ int64 $w.graceSeconds }}: want more than worker.config.script.stop, which is {{ $stop }}
{{- end }}
{{- end }}
{{- if and $w.jobs $w.jobsConfigMap }}
worker.jobs and worker.jobsConfigMap are given: want one of them
{{- end }}
{{- if and (hasKey $w.config "jobs") (not (or $w.jobs $w.jobsConfigMap)) }}
worker.config.jobs is given without worker.jobs or worker.jobsConfigMap: want one of them. If you took the last job away, leave worker.config.jobs out, and disable or remove that job by hand: without files nobody does, and it runs on
{{- end }}
{{- if has "elasticron" $w.secrets }}
worker.secrets names elasticron, and the chart uses the folder of that name: want another name
{{- end }}
{{- if and $w.serviceMonitor.enabled .Values.networkPolicy.enabled (not .Values.networkPolicy.metricsFrom) }}
networkPolicy.metricsFrom is missing: want the peers of Prometheus with worker.serviceMonitor.enabled, as nobody else may connect
{{- end }}
{{- end -}}

{{- define "elasticron.check" -}}
{{- with include "elasticron.faults" . | trim }}{{ fail (printf "values are not allowed:\n%s" .) }}{{ end }}
{{- end -}}
