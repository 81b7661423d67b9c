-- Starts the language server, `ctxd lsp`, one for each vault.
local M = {}

local function options(root)
  local config = require('ctxd').config
  local capabilities = config.capabilities
  if not capabilities then
    local found, cmp = pcall(require, 'cmp_nvim_lsp')
    if found and cmp.default_capabilities then
      capabilities = cmp.default_capabilities()
    end
  end
  return {
    name = 'ctxd',
    cmd = { config.cmd, 'lsp' },
    root_dir = root,
    capabilities = capabilities,
    on_attach = config.on_attach,
    settings = { ctxd = config.settings },
    init_options = { ctxd = config.settings },
  }
end

local clients = {} -- ids by root; only Neovim 0.7 needs it

local function start(buf, root)
  local opts = options(root)
  if vim.lsp.start then
    vim.lsp.start(opts, { bufnr = buf })
    return
  end
  local id = clients[root]
  if not id or not vim.lsp.get_client_by_id(id) then
    opts.workspace_folders = { { uri = vim.uri_from_fname(root), name = root } }
    id = vim.lsp.start_client(opts)
    clients[root] = id
  end
  if id then
    vim.lsp.buf_attach_client(buf, id)
  end
end

--- client returns the language server of a buffer, or nil.
function M.client(buf)
  local list
  if vim.lsp.get_clients then
    list = vim.lsp.get_clients({ bufnr = buf, name = 'ctxd' })
  else
    list = vim.tbl_filter(function(c)
      return c.name == 'ctxd'
    end, vim.tbl_values(vim.lsp.buf_get_clients(buf)))
  end
  return list[1]
end

--- attach gives a buffer of a vault its language server and completion. Other buffers stay as they are.
function M.attach(buf)
  local config = require('ctxd').config
  local path = vim.api.nvim_buf_get_name(buf)
  if path == '' or vim.bo[buf].buftype ~= '' or vim.fn.executable(config.cmd) == 0 then
    return
  end
  -- Scheduled, so that what Neovim itself sets for Markdown comes first: its omnifunc completes HTML.
  require('ctxd.vault').root(path, vim.schedule_wrap(function(root)
    if not root or not vim.api.nvim_buf_is_loaded(buf) then
      return
    end
    if config.omnifunc then
      vim.bo[buf].omnifunc = "v:lua.require'ctxd'.omnifunc"
    end
    if config.lsp then
      vim.api.nvim_buf_call(buf, function()
        start(buf, root)
      end)
    end
  end))
end

return M
