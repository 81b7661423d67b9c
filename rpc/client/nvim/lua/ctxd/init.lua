-- ctxd for Neovim: the language server of a vault, completion and the command :Ctxd.
-- See :help ctxd.
local M = {}

-- config holds the settings, which setup changes. :help ctxd-setup describes each.
M.config = {
  cmd = 'ctxd', -- the program, by name or path
  lsp = true, -- start the language server for the Markdown files of a vault
  omnifunc = true, -- set 'omnifunc' there
  markers = { '.ctxd', '.obsidian', '.silverbullet', 'logseq' }, -- what the root of a vault contains
  root = nil, -- function(path): the root of the vault of a file, or nil
  settings = {}, -- of the language server, such as { import = 'never' }
  capabilities = nil, -- of the editor, for the language server
  on_attach = nil, -- function(client, buffer)
  height = 15, -- lines of the windows that :Ctxd opens
  timeout = 2000, -- milliseconds that completion waits at most
}

--- setup takes the person's settings and follows Markdown files from now on.
--- @param settings table|nil
function M.setup(settings)
  M.config = vim.tbl_deep_extend('force', M.config, settings or {})
  local group = vim.api.nvim_create_augroup('ctxd', { clear = true })
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = 'markdown',
    callback = function(args)
      require('ctxd.lsp').attach(args.buf)
    end,
  })
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = group,
    callback = function()
      require('ctxd.daemon').close()
    end,
  })
  -- Files that were open before setup ran.
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].filetype == 'markdown' then
      require('ctxd.lsp').attach(buf)
    end
  end
end

--- omnifunc completes links, mentions and tags with CTRL-X CTRL-O.
function M.omnifunc(findstart, base)
  return require('ctxd.complete').omnifunc(findstart, base)
end

return M
