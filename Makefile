UV := .venv-tools/bin/uv
export UV_SYSTEM_CERTS := $(if $(wildcard /etc/ssl/certs/ca-certificates.crt),1,)
FIND_PYTHON = for p in python3.14 python3.13 python3.12 python3 "$$HOME"/.pyenv/versions/3.1[2-9]*/bin/python; do \
  "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && { command -v "$$p"; break; }; done
env: .venv/.ready
$(UV):
	@python3 -m venv .venv-tools
	@.venv-tools/bin/python -m pip install --quiet uv==0.13.9
.venv/.ready: $(UV) requirements.lock pyproject.toml
	@test -x .venv/bin/python || { py=$$($(FIND_PYTHON)); $(UV) venv --quiet --python "$${py:-3.12}" .venv; }
	@$(UV) pip sync --quiet --python .venv/bin/python --require-hashes --compile-bytecode requirements.lock
	@$(UV) pip install --quiet --python .venv/bin/python --no-deps --editable .
	@touch $@
lock: $(UV)
	$(UV) pip compile --quiet --universal --python-version 3.12 --generate-hashes --no-header --no-annotate --group dev pyproject.toml -o requirements.lock
