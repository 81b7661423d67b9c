-- Defines the command :Ctxd. Nothing else is loaded before it is used or setup is called.
if vim.g.loaded_ctxd then
  return
end
vim.g.loaded_ctxd = true

vim.api.nvim_create_user_command('Ctxd', function(opts)
  require('ctxd.commands').run(opts)
end, {
  nargs = '*',
  range = true,
  bang = true,
  complete = function(lead, line)
    return require('ctxd.commands').complete(lead, line)
  end,
  desc = 'Search, relate, assemble, draw and ask, with ctxd',
})
